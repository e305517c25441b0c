// Models written as a list of layers: 'linear(784,128); relu; linear(128,10)'.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

// Builds the list on an input of `input_dims`; empty: batch x in_features, if the first layer is
// linear. INVALID_ARGUMENT: "BAD_LAYER_LIST" for what is written wrong, "BAD_INPUT" when the shape
// of the input is needed, "SHAPE_MISMATCH" naming the layer (counted from 0) that does not fit.
Result<Graph> BuildLayerList(std::string_view text, const std::vector<int64_t>& input_dims,
                             int64_t batch, uint64_t seed);

}  // namespace tinyprof
