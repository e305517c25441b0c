#include "client/lib/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "client/lib/interrupts.h"
#include "client/lib/output_file.h"
#include "client/lib/rpc_error.h"
#include "client/lib/sha256.h"

namespace tinyprof::client {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChunkBytes = 1 << 20;
constexpr size_t kMaxNameLength = 100;
constexpr size_t kDigestDigits = 12;

// Calls `use` with each piece of the file; stops early when it returns false.
Status ForEachChunk(const std::string& path, const std::function<bool(std::string_view)>& use) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || fs::is_directory(path, ignored)) {
    const std::string why = file ? "it is a directory" : std::strerror(errno);
    return Fail(ErrorCode::kNotFound, "FILE_NOT_READABLE",
                fmt::format("cannot read the model file {}: {}", path, why), {{"path", path}});
  }
  std::string buffer(kChunkBytes, '\0');
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto got = static_cast<size_t>(file.gcount());
    if (got > 0 && !use(std::string_view(buffer).substr(0, got))) return {};
  }
  if (file.bad()) {
    return Fail(ErrorCode::kInvalidArgument, "FILE_NOT_READABLE",
                fmt::format("reading the model file {} stopped half-way", path), {{"path", path}});
  }
  return {};
}

Result<bool> DaemonHolds(Connection& connection, const std::string& name,
                         const std::string& sha256_hex) {
  v1::GetModelRequest request;
  request.set_name(name);
  const auto response =
      connection.Call(connection.models(), &Connection::Models::GetModel, request);
  if (response) return response->model().sha256() == sha256_hex;
  if (response.error().code == ErrorCode::kNotFound) return false;
  return tl::unexpected(response.error());
}

using WriteFn = std::function<Status(std::string_view)>;
// Makes a call of `context` that hands a model to a WriteFn piece by piece, until the first error;
// the model's size in bytes.
using StreamFn = std::function<Result<int64_t>(grpc::ClientContext&, const WriteFn&)>;

// Reads all messages of a call, whose pieces of a file `chunk_of` finds.
template <class Response, class ChunkOf>
Result<int64_t> ReadStream(Connection& connection, grpc::ClientContext& context,
                           grpc::ClientReader<Response>& reader, const WriteFn& write,
                           const ChunkOf& chunk_of) {
  Response response;
  int64_t size_bytes = 0;
  while (reader.Read(&response)) {
    const std::string& chunk = chunk_of(response);
    if (const Status written = write(chunk); !written) {
      context.TryCancel();
      // The call failed because of us; what it says is no news.
      static_cast<void>(reader.Finish());
      return tl::unexpected(written.error());
    }
    size_bytes += static_cast<int64_t>(chunk.size());
  }
  const grpc::Status status = reader.Finish();
  if (!status.ok()) return tl::unexpected(FromRpcStatus(status, connection.address().target));
  return size_bytes;
}

Result<int64_t> StreamInto(const StreamFn& stream, grpc::ClientContext& context, OutputFile& file) {
  TINYPROF_ASSIGN_OR_RETURN(
      const int64_t size_bytes,
      stream(context, [&file](std::string_view chunk) { return file.Write(chunk); }));
  TINYPROF_RETURN_IF_ERROR(file.Commit());
  return size_bytes;
}

// Into the file at `path`, or to io.out when it is "-".
Result<int64_t> WriteModelFile(const StreamFn& stream, const std::string& path, Io& io) {
  grpc::ClientContext context;
  if (path == "-") {
    return stream(context, [&io](std::string_view chunk) -> Status {
      errno = 0;
      io.out << chunk << std::flush;
      if (!io.out) return ResultNotWritten("standard output", errno == 0 ? EIO : errno);
      return {};
    });
  }
  TINYPROF_ASSIGN_OR_RETURN(const std::optional<fs::path> target, ReplaceableFile(path));
  if (!target) {
    TINYPROF_ASSIGN_OR_RETURN(OutputFile file, OutputFile::InPlace(path));
    return StreamInto(stream, context, file);
  }
  if (!IsModelFile(path)) {
    return Fail(
        ErrorCode::kInvalidArgument, "BAD_FILE_NAME",
        fmt::format("call the file {}.onnx: a MODEL is taken for a file by that ending", path),
        {{"path", path}});
  }
  // Only here does leaving at once leave something behind.
  std::atomic<bool> interrupted = false;
  const Interrupts::Armed armed(io.interrupts, [&] {
    interrupted = true;
    context.TryCancel();
  });
  TINYPROF_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Replacing(*target, path));
  Result<int64_t> size_bytes = StreamInto(stream, context, file);
  if (!size_bytes && interrupted) {
    return Fail(ErrorCode::kCancelled, "INTERRUPTED",
                fmt::format("interrupted; {} is not written", path), {{"path", path}});
  }
  return size_bytes;
}

// What a file is called, by its folder where its own name says nothing.
std::string TellingName(const fs::path& path) {
  if (path.stem() != "model") return path.stem().string();
  std::error_code failed;
  const fs::path whole = fs::absolute(path, failed).lexically_normal();
  const fs::path folder = failed ? fs::path() : whole.parent_path().filename();
  return folder.empty() ? path.stem().string() : folder.string();
}

}  // namespace

bool IsModelFile(std::string_view model) { return model.ends_with(".onnx"); }

std::string UploadName(std::string_view path, std::string_view sha256_hex) {
  std::string stem = TellingName(path);
  std::replace_if(
      stem.begin(), stem.end(),
      [](unsigned char c) { return !(std::isalnum(c) || c == '.' || c == '_' || c == '-'); }, '_');
  // The daemon wants a letter or digit in front.
  if (stem.empty() || std::isalnum(static_cast<unsigned char>(stem[0])) == 0) stem = "model" + stem;
  stem.resize(std::min(stem.size(), kMaxNameLength - kDigestDigits - 1));
  return fmt::format("{}-{}", stem, sha256_hex.substr(0, kDigestDigits));
}

Result<std::string> UploadModelFile(Connection& connection, const std::string& path,
                                    const std::function<void(const std::string&)>& on_notice) {
  Sha256 sha256;
  TINYPROF_RETURN_IF_ERROR(ForEachChunk(path, [&](std::string_view chunk) {
    sha256.Update(chunk);
    return true;
  }));
  const std::string digest = sha256.HexDigest();
  std::string name = UploadName(path, digest);
  TINYPROF_ASSIGN_OR_RETURN(const bool is_known, DaemonHolds(connection, name, digest));
  if (is_known) return name;
  on_notice(fmt::format("uploading {} as {}", path, name));
  grpc::ClientContext context;
  connection.SetStreamDeadline(context);
  v1::UploadModelResponse response;
  const auto writer = connection.models().UploadModel(&context, &response);
  v1::UploadModelRequest first;
  first.set_name(name);
  if (writer->Write(first)) {
    const Status read = ForEachChunk(path, [&](std::string_view chunk) {
      v1::UploadModelRequest request;
      request.set_chunk(chunk.data(), chunk.size());
      return writer->Write(request);
    });
    if (!read) context.TryCancel();
    TINYPROF_RETURN_IF_ERROR(read);
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (!status.ok()) return tl::unexpected(FromRpcStatus(status, connection.address().target));
  return response.model().name();
}

Result<int64_t> ExportModelFile(Connection& connection, const v1::ModelSpec& spec,
                                const std::string& path, Io& io) {
  const auto stream = [&](grpc::ClientContext& context, const WriteFn& write) {
    connection.SetStreamDeadline(context);
    v1::ExportModelRequest request;
    *request.mutable_model() = spec;
    const auto reader = connection.models().ExportModel(&context, request);
    return ReadStream(connection, context, *reader, write,
                      [](const v1::ExportModelResponse& response) -> const std::string& {
                        return response.chunk();
                      });
  };
  return WriteModelFile(stream, path, io);
}

Result<QuantizedModelFile> QuantizeModelFile(Connection& connection,
                                             const v1::QuantizeModelRequest& request,
                                             const std::string& path, Io& io,
                                             const QuantizationProgressFn& on_progress) {
  QuantizedModelFile quantized;
  const auto stream = [&](grpc::ClientContext& context, const WriteFn& write) {
    connection.SetStreamDeadline(context);
    const auto reader = connection.profiler().QuantizeModel(&context, request);
    return ReadStream(connection, context, *reader, write,
                      [&](const v1::QuantizeModelResponse& response) -> const std::string& {
                        if (response.has_progress()) on_progress(response.progress());
                        if (response.has_report()) quantized.report = response.report();
                        return response.chunk();
                      });
  };
  TINYPROF_ASSIGN_OR_RETURN(quantized.size_bytes, WriteModelFile(stream, path, io));
  return quantized;
}

}  // namespace tinyprof::client
