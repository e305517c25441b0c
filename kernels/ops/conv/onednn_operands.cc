#include "kernels/ops/conv/onednn_operands.h"

namespace tinyprof::onednn {

Window WindowOf(const ConvShape& shape, size_t rank) {
  Window window;
  for (size_t i = 3 - rank; i < 3; ++i) {
    const ConvAxis& axis = shape.axes[i];
    window.strides.push_back(axis.stride);
    window.dilations.push_back(axis.dilation - 1);
    window.pads_begin.push_back(axis.pad_begin);
    // What the last place reaches beyond the end; below 0 where it does not reach the end.
    window.pads_end.push_back((axis.positions - 1) * axis.stride +
                              (axis.kernel - 1) * axis.dilation + 1 - axis.extent - axis.pad_begin);
  }
  return window;
}

Weights WeightsOf(const TensorType& type, const ConvShape& shape, bool transposed) {
  const Shape& spatial = type.shape;
  const int64_t taps = shape.tap_count();
  Weights weights;
  Dims strides;
  if (shape.groups > 1) {
    weights.dims.push_back(shape.groups);
    strides.push_back(shape.out_group() * shape.in_group() * taps);
  }
  weights.dims.insert(weights.dims.end(), {shape.out_group(), shape.in_group()});
  // ONNX has the outputs first in a Conv, the inputs first in a ConvTranspose.
  const int64_t out_stride = transposed ? taps : shape.in_group() * taps;
  const int64_t in_stride = transposed ? shape.out_group() * taps : taps;
  strides.insert(strides.end(), {out_stride, in_stride});
  for (size_t d = 2; d < spatial.rank(); ++d) {
    weights.dims.push_back(spatial[d]);
    strides.push_back(spatial.stride(d));
  }
  weights.given = Strided(weights.dims, strides, type.dtype);
  return weights;
}

}  // namespace tinyprof::onednn
