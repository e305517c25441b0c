// The steps behind a convolution that its weights and its bias can take in before any pass.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/graph/fusion.h"
#include "kernels/ops/conv/conv_shape.h"

namespace tinyprof {

struct ConvFolding {
  size_t step_count = 0;    // of the fused node, from the first on
  bool scales = false;      // whether the weights change too
  bool makes_bias = false;  // whether there is a bias of its own, in place of the node's
  // FLOPs by the formulas that no pass executes: a bias costs its addition, and only once.
  int64_t flop_count = 0;
};

// Nothing for a node that is not fused.
ConvFolding FoldingOf(const NodeSignature& signature, const ConvShape& shape);

// Writes the weights, in their own order, or the bias with the steps folded in; all in double but
// the result. They read the data of the signature's inputs.
std::function<void(float*)> FoldedWeights(const NodeSignature& signature, const ConvShape& shape,
                                          bool transposed);
std::function<void(float*)> FoldedBias(const NodeSignature& signature, const ConvShape& shape);

}  // namespace tinyprof
