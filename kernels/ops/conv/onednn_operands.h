// How oneDNN is told of a convolution.
#pragma once

#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/onednn_primitive.h"

namespace tinyprof::onednn {

// The spatial axes. The library's dilation counts the elements between two taps.
struct Window {
  Dims strides;
  Dims dilations;
  Dims pads_begin;
  Dims pads_end;
};
// Of the last `rank` axes.
Window WindowOf(const ConvShape& shape, size_t rank);

// The weights as the library sees them: groups first where there are some, then outputs, then
// inputs.
struct Weights {
  Dims dims;
  Desc given;
};

// `type` is that of the weights as the node has them; `transposed`: it is a ConvTranspose.
Weights WeightsOf(const TensorType& type, const ConvShape& shape, bool transposed);

}  // namespace tinyprof::onednn
