#include "daemon/convert/model_spec.h"

#include "daemon/model/onnx_import.h"

namespace tinyprof {

ModelSpec FromProto(const v1::ModelSpec& message) {
  ModelSpec spec{.text = message.text(),
                 .batch = message.batch() == 0 ? 1 : message.batch(),
                 .seed = message.seed() == 0 ? 1 : message.seed()};
  for (const v1::InputShape& input : message.inputs()) {
    spec.inputs.emplace_back(input.name(),
                             std::vector<int64_t>(input.dims().begin(), input.dims().end()));
  }
  return spec;
}

Result<Graph> BuildGraph(const v1::ModelSpec& message, int model_fd,
                         const std::vector<TensorData>& fixed) {
  const ModelSpec spec = FromProto(message);
  if (model_fd < 0) return BuildModel(spec);
  TINYPROF_RETURN_IF_ERROR(CheckBatch(spec.batch));
  return ImportOnnxFd(
      model_fd, {.name = spec.text, .inputs = spec.inputs, .batch = spec.batch, .fixed = fixed});
}

}  // namespace tinyprof
