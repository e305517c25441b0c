// Softmax and LogSoftmax with the semantics of opset 13: along one axis, each other index alone.
#pragma once

#include <cstdint>

#include "kernels/graph/graph.h"

namespace tinyprof {

// The input as [outer, axis, inner]; the softmax runs over the middle one.
struct SoftmaxDims {
  int64_t outer = 1;
  int64_t axis = 1;
  int64_t inner = 1;
};
SoftmaxDims SoftmaxDimsOf(const NodeSignature& signature);

}  // namespace tinyprof
