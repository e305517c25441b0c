// Which model: v1::ModelSpec to the spec of the zoo, and to a graph.
#pragma once

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/zoo/model_spec.h"
#include "tinyprof/v1/model.pb.h"

namespace tinyprof {

// 0 for batch and seed becomes 1, as the contract says.
ModelSpec FromProto(const v1::ModelSpec& message);

// The graph of a built-in model, or, with `model_fd` >= 0, of the ONNX file open there (which stays
// open). The errors of BuildModel or of ImportOnnxFd.
Result<Graph> BuildGraph(const v1::ModelSpec& message, int model_fd);

}  // namespace tinyprof
