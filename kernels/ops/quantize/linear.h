// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear: floats to 8 bits and back.
//
// q = saturate(round(x / scale) + zero_point), halves to even; x = (q - zero_point) * scale. Scale
// and zero point are single numbers, or lists along "axis". A division or a multiplication for each
// element is counted; what is done on integers is no FLOP. Looking for the range costs two minmax.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/ops/op.h"

namespace tinyprof {

// The tensor of a QuantizeLinear or DequantizeLinear as [outer, channels, inner] with a scale for
// each channel; one channel for a single scale.
struct ChannelLayout {
  int64_t channels = 1;
  int64_t inner = 1;
  int64_t count = 0;

  int64_t channel_of(int64_t element) const { return element / inner % channels; }
};
Result<ChannelLayout> ChannelLayoutOf(const NodeSignature& signature);

Result<std::vector<TensorType>> InferQuantize(const NodeSignature& signature, size_t output_count);
Result<std::vector<TensorType>> InferDequantize(const NodeSignature& signature,
                                                size_t output_count);
Result<std::vector<TensorType>> InferDynamicQuantize(const NodeSignature& signature,
                                                     size_t output_count);
Result<Cost> QuantizeCost(const NodeSignature& signature);
Result<Cost> DynamicQuantizeCost(const NodeSignature& signature);

Result<std::unique_ptr<Kernel>> MakeQuantizeKernel(const NodeSignature& signature,
                                                   const KernelOptions& options);
Result<std::unique_ptr<Kernel>> MakeDequantizeKernel(const NodeSignature& signature,
                                                     const KernelOptions& options);
Result<std::unique_ptr<Kernel>> MakeDynamicQuantizeKernel(const NodeSignature& signature,
                                                          const KernelOptions& options);

// A rounded number within the range of an 8-bit type.
template <class Q>
Q Saturated(float rounded) {
  constexpr auto kLow = static_cast<float>(std::numeric_limits<Q>::min());
  constexpr auto kHigh = static_cast<float>(std::numeric_limits<Q>::max());
  // Written so that NaN becomes the low end.
  return static_cast<Q>(rounded > kLow ? std::min(rounded, kHigh) : kLow);
}

}  // namespace tinyprof
