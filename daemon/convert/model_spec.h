// Which model: v1::ModelSpec to the spec of the zoo, and to a graph.
#pragma once

#include <vector>

#include "daemon/model/tensor_proto.h"
#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/zoo/model_spec.h"
#include "tinyprof/v1/model.pb.h"

namespace tinyprof {

// 0 for batch and seed becomes 1, as the contract says.
ModelSpec FromProto(const v1::ModelSpec& message);

// The graph of a built-in model, or, with `model_fd` >= 0, of the ONNX file open there (which stays
// open), of whose inputs those in `fixed` are known. The errors of BuildModel or of ImportOnnxFd.
Result<Graph> BuildGraph(const v1::ModelSpec& message, int model_fd,
                         const std::vector<TensorData>& fixed = {});

}  // namespace tinyprof
