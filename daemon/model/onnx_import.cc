#include "daemon/model/onnx_import.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "daemon/model/onnx_inputs.h"
#include "daemon/model/onnx_names.h"
#include "daemon/model/onnx_reader.h"
#include "daemon/model/quantization_metadata.h"
#include "kernels/base/words.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

constexpr int64_t kMinOpset = 1;
constexpr int64_t kMaxOpset = 26;

tl::unexpected<Error> BadOnnx(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX", std::move(message));
}

Result<int64_t> OpsetOf(const onnx::ModelProto& model) {
  for (const auto& opset : model.opset_import()) {
    if (!opset.domain().empty() && opset.domain() != "ai.onnx") continue;
    if (opset.version() >= kMinOpset && opset.version() <= kMaxOpset) {
      return static_cast<int64_t>(opset.version());
    }
    return Fail(ErrorCode::kUnimplemented, "OPSET_NOT_SUPPORTED",
                fmt::format("the model is of opset {}, opsets {} to {} are read: convert it",
                            opset.version(), kMinOpset, kMaxOpset),
                {{"opset", std::to_string(opset.version())}});
  }
  return BadOnnx("the model names no opset of the default operators");
}

Result<Graph> Import(std::span<const std::byte> file, const ImportOptions& options) {
  TINYPROF_RETURN_IF_ERROR(CheckBatch(options.batch));
  if (static_cast<int64_t>(file.size()) > kMaxOnnxBytes) {
    return Fail(ErrorCode::kResourceExhausted, "MODEL_TOO_LARGE",
                fmt::format("the file has {}, and at most {} are read",
                            SizeText(static_cast<int64_t>(file.size())), SizeText(kMaxOnnxBytes)));
  }
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(file.data()),
                                                static_cast<int>(file.size()));
  stream.SetTotalBytesLimit(static_cast<int>(kMaxOnnxBytes));
  onnx::ModelProto model;
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return BadOnnx("the file is no ONNX model or is damaged");
  }
  if (!model.has_graph()) return BadOnnx("the file holds no graph");
  TINYPROF_RETURN_IF_ERROR(CheckNames(model.graph()));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t opset, OpsetOf(model));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<BoundInput> inputs,
                            BindInputs(model.graph(), options));
  OnnxReader reader(options.name, opset, static_cast<int64_t>(file.size()));
  TINYPROF_ASSIGN_OR_RETURN(Graph graph, reader.Read(*model.mutable_graph(), inputs));
  graph.quantized = QuantizationOf(model);
  return graph;
}

}  // namespace

Result<Graph> ImportOnnx(std::span<const std::byte> file, const ImportOptions& options) {
  try {
    return Import(file, options);
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kResourceExhausted, "OUT_OF_MEMORY",
                "there is not enough memory to read the model");
  }
}

Result<Graph> ImportOnnxFd(int fd, const ImportOptions& options) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, "NO_FILE", "the model is no regular file");
  }
  if (info.st_size == 0) return BadOnnx("the file is empty");
  const auto byte_size = static_cast<size_t>(info.st_size);
  void* data = ::mmap(nullptr, byte_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) {
    return Fail(
        ErrorCode::kResourceExhausted, "OUT_OF_MEMORY",
        fmt::format("cannot map the model's {}: {}", SizeText(info.st_size), std::strerror(errno)));
  }
  const auto unmap = [byte_size](void* mapped) { ::munmap(mapped, byte_size); };
  const std::unique_ptr<void, decltype(unmap)> mapping(data, unmap);
  return ImportOnnx({static_cast<const std::byte*>(data), byte_size}, options);
}

Result<Graph> ImportOnnxFile(const std::string& path, const ImportOptions& options) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return Fail(ErrorCode::kNotFound, "NO_FILE",
                fmt::format("cannot open {}: {}", path, std::strerror(errno)), {{"path", path}});
  }
  Result<Graph> graph = ImportOnnxFd(fd, options);
  ::close(fd);
  return graph;
}

Status CheckOnnxFd(int fd) {
  const Result<Graph> graph = ImportOnnxFd(fd, {});
  // These two ask for an --input, which belongs to a run and not to the file.
  if (graph || graph.error().reason == "BAD_INPUT" || graph.error().reason == "CONTROL_FLOW") {
    return {};
  }
  return tl::unexpected<Error>(graph.error());
}

}  // namespace tinyprof
