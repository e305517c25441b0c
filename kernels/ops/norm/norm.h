// BatchNormalization (inference) and LayerNormalization: what their rules and kernels share.
#pragma once

#include <cstdint>

#include "kernels/graph/graph.h"

namespace tinyprof {

inline constexpr float kDefaultEpsilon = 1e-5F;

// BatchNormalization sees its input as [batch, channels, inner].
struct BatchNormDims {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t inner = 1;
};
BatchNormDims BatchNormDimsOf(const NodeSignature& signature);

// LayerNormalization sees its input as `rows` rows of `width` elements.
struct LayerNormDims {
  int64_t rows = 1;
  int64_t width = 1;
};
LayerNormDims LayerNormDimsOf(const NodeSignature& signature);

}  // namespace tinyprof
