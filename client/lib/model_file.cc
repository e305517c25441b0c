#include "client/lib/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

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

bool DaemonHolds(Connection& connection, const std::string& name, const std::string& sha256_hex) {
  v1::GetModelRequest request;
  request.set_name(name);
  const auto response =
      connection.Call(connection.models(), &Connection::Models::GetModel, request);
  return response && response->model().sha256() == sha256_hex;
}

}  // namespace

bool IsModelFile(const std::string& model) {
  if (!model.ends_with(".onnx")) return false;
  std::error_code ignored;
  return model.find('/') != std::string::npos || fs::exists(model, ignored);
}

std::string UploadName(std::string_view path, std::string_view sha256_hex) {
  std::string stem = fs::path(path).stem().string();
  std::replace_if(
      stem.begin(), stem.end(),
      [](unsigned char c) { return !(std::isalnum(c) || c == '.' || c == '_' || c == '-'); }, '_');
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
  if (DaemonHolds(connection, name, digest)) return name;
  on_notice(fmt::format("uploading {} as {}", path, name));
  grpc::ClientContext context;
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
                                const std::string& path) {
  const std::string partial = path + ".part";
  errno = 0;
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  const auto cannot_write = [&path] {
    return Fail(ErrorCode::kInvalidArgument, "FILE_NOT_WRITABLE",
                fmt::format("cannot write {}: {}", path, std::strerror(errno)), {{"path", path}});
  };
  if (!file) return cannot_write();
  grpc::ClientContext context;
  v1::ExportModelRequest request;
  *request.mutable_model() = spec;
  const auto reader = connection.models().ExportModel(&context, request);
  v1::ExportModelResponse response;
  int64_t size_bytes = 0;
  while (file && reader->Read(&response)) {
    file.write(response.chunk().data(), static_cast<std::streamsize>(response.chunk().size()));
    size_bytes += static_cast<int64_t>(response.chunk().size());
  }
  file.close();
  if (!file) context.TryCancel();
  const grpc::Status status = reader->Finish();
  std::error_code error;
  if (file && status.ok()) fs::rename(partial, path, error);
  if (file && status.ok() && !error) return size_bytes;
  std::error_code ignored;
  fs::remove(partial, ignored);
  if (!file || error) return cannot_write();
  return tl::unexpected(FromRpcStatus(status, connection.address().target));
}

}  // namespace tinyprof::client
