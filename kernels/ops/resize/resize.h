// Resize: each axis that changes is a pass of its own, in which an output is the weighted sum of 1
// (nearest), 2 (linear) or 4 (cubic) neighbours. t taps cost t multiplications and t - 1 additions
// for each output of a pass; nearest costs none.
//
// Where the sampled place lies beyond the edge, the edge is repeated; with tf_crop_and_resize the
// extrapolation value stands there. With scales, align_corners takes scale * length as the length
// of the result, also where that is no whole number, as the tests of ONNX have it.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/graph/graph.h"

namespace tinyprof {

// The tensor as [outer, input, inner] to [outer, output, inner].
struct ResizePass {
  size_t axis = 0;
  int64_t outer = 1;
  int64_t input = 1;
  int64_t output = 1;
  int64_t inner = 1;
  int64_t taps = 1;
  std::vector<int64_t> indices;  // [output, taps]
  std::vector<double> weights;   // the same

  int64_t row_count() const { return outer * output; }
  int64_t output_count() const { return outer * output * inner; }
};

struct ResizePlan {
  Shape output;
  std::vector<ResizePass> passes;  // none where nothing changes
  bool is_nearest = false;
  // By axis and output position: whether it lies outside of the input; empty when none does.
  std::vector<std::vector<bool>> outside;
  double extrapolation_value = 0;

  // Elements of the largest tensor between two passes.
  int64_t between_count() const;
};

// INVALID_ARGUMENT, or UNIMPLEMENTED / "SHAPE_NOT_KNOWN" and "ATTRIBUTE_NOT_SUPPORTED".
Result<ResizePlan> ResizePlanOf(const NodeSignature& signature);

}  // namespace tinyprof
