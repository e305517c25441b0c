#include "client/lib/verify_data.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

#include "client/lib/rpc_error.h"

namespace tinyprof::client {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChunkBytes = 1 << 19;

tl::unexpected<Error> BadData(const std::string& path, std::string message) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_VERIFY_DATA", std::move(message), {{"path", path}});
}

// N of "<prefix>N.pb", or -1 for another file.
int IndexOf(const std::string& file_name, std::string_view prefix) {
  constexpr std::string_view kSuffix = ".pb";
  if (!file_name.starts_with(prefix) || !file_name.ends_with(kSuffix)) return -1;
  const char* begin = file_name.data() + prefix.size();
  const char* end = file_name.data() + file_name.size() - kSuffix.size();
  int index = -1;
  const auto [parsed, error] = std::from_chars(begin, end, index);
  return error == std::errc() && parsed == end ? index : -1;
}

Result<std::vector<std::string>> InOrder(const std::string& directory, std::string_view prefix,
                                         const std::map<int, std::string>& by_index) {
  std::vector<std::string> paths;
  for (const auto& [index, path] : by_index) {
    if (index != static_cast<int>(paths.size())) {
      return BadData(directory, fmt::format("{} has {}{}.pb but no {}{}.pb", directory, prefix,
                                            index, prefix, paths.size()));
    }
    paths.push_back(path);
  }
  return paths;
}

// Sends one file as the tensor at `index`; false when the daemon hung up.
Result<bool> SendTensor(grpc::ClientWriter<v1::VerifyModelRequest>& writer, const std::string& path,
                        bool is_output, int index) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return BadData(path, fmt::format("cannot read {}", path));
  std::string buffer(kChunkBytes, '\0');
  bool first = true;
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto got = static_cast<size_t>(file.gcount());
    if (got == 0 && !first) break;
    v1::VerifyModelRequest request;
    v1::TensorChunk& chunk = *request.mutable_tensor();
    chunk.set_is_output(is_output);
    chunk.set_index(index);
    chunk.set_data(buffer.data(), got);
    if (!writer.Write(request)) return false;
    first = false;
  }
  if (file.bad()) return BadData(path, fmt::format("reading {} stopped half-way", path));
  return true;
}

// False when the daemon hung up.
Result<bool> SendAll(grpc::ClientWriter<v1::VerifyModelRequest>& writer, const VerifyData& data) {
  for (const bool is_output : {false, true}) {
    int index = 0;
    for (const std::string& path : is_output ? data.outputs : data.inputs) {
      TINYPROF_ASSIGN_OR_RETURN(const bool sent, SendTensor(writer, path, is_output, index++));
      if (!sent) return false;
    }
  }
  return true;
}

}  // namespace

Result<VerifyData> FindVerifyData(const std::string& directory) {
  std::map<int, std::string> inputs;
  std::map<int, std::string> outputs;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (const int index = IndexOf(name, "input_"); index >= 0) inputs[index] = it->path().string();
    if (const int index = IndexOf(name, "output_"); index >= 0)
      outputs[index] = it->path().string();
  }
  if (error) {
    return BadData(directory,
                   fmt::format("cannot read the directory {}: {}", directory, error.message()));
  }
  if (outputs.empty()) {
    return BadData(directory,
                   fmt::format("{} holds no output_0.pb; --data wants the directory with "
                               "input_N.pb and output_N.pb (mostly test_data_set_0)",
                               directory));
  }
  VerifyData data;
  TINYPROF_ASSIGN_OR_RETURN(data.inputs, InOrder(directory, "input_", inputs));
  TINYPROF_ASSIGN_OR_RETURN(data.outputs, InOrder(directory, "output_", outputs));
  return data;
}

Result<v1::VerifyModelResponse> Verify(Connection& connection, const v1::VerifySpec& spec,
                                       const VerifyData& data) {
  grpc::ClientContext context;
  connection.SetDeadline(context);
  v1::VerifyModelResponse response;
  const auto writer = connection.profiler().VerifyModel(&context, &response);
  v1::VerifyModelRequest first;
  *first.mutable_spec() = spec;
  if (writer->Write(first)) {
    const Result<bool> sent = SendAll(*writer, data);
    if (!sent) {
      context.TryCancel();
      return tl::unexpected(sent.error());
    }
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (!status.ok()) return tl::unexpected(FromRpcStatus(status, connection.address().target));
  return response;
}

}  // namespace tinyprof::client
