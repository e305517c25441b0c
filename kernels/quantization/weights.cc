#include "kernels/quantization/weights.h"

#include <algorithm>
#include <cmath>

#include "kernels/quantization/byte_scale.h"

namespace tinyprof {

WeightLayout WeightLayout::OfConv(const Shape& shape) {
  return {.channels = shape[0], .run = shape.stride(0)};
}

WeightLayout WeightLayout::OfMatmul(const Shape& shape) { return {.channels = shape[1], .run = 1}; }

std::vector<float> ChannelScales(const std::vector<float>& weights, const WeightLayout& layout,
                                 const std::vector<float>& floors) {
  std::vector<float> scales(static_cast<size_t>(layout.channels));
  const auto run = static_cast<size_t>(layout.run);
  for (size_t i = 0; i < weights.size(); ++i) {
    float& largest = scales[i / run % scales.size()];
    largest = std::max(largest, std::fabs(weights[i]));
  }
  for (size_t c = 0; c < scales.size(); ++c) {
    scales[c] = std::max(WeightScaleOf(scales[c]), floors.empty() ? 0.0F : floors[c]);
    if (scales[c] == 0) scales[c] = 1;
  }
  return scales;
}

WeightQuantizer::Quantized WeightQuantizer::Quantize(ValueId weight, const WeightLayout& layout,
                                                     const std::vector<float>& floors) {
  const std::vector<float> floats = FloatsOf(graph_, weight);
  std::vector<float> scales = ChannelScales(floats, layout, floors);
  const auto known = quantized_.find({weight, scales});
  if (known != quantized_.end()) return known->second;

  const auto run = static_cast<size_t>(layout.run);
  std::vector<int8_t> bytes(floats.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    bytes[i] = QuantizedWeight(floats[i], scales[i / run % scales.size()]);
  }
  const Value value = graph_.value(weight);
  Quantized made;
  made.weight = edit_.Initializer(value.name + "_quantized", {DType::kInt8, value.type.shape},
                                  DataOf(bytes), true);
  made.scale = edit_.Initializer(value.name + "_scale", {DType::kFloat32, Shape{layout.channels}},
                                 DataOf(scales), false);
  made.zero_point = ZeroPoints(layout.channels);
  made.scales = scales;
  quantized_.emplace(std::pair(weight, std::move(scales)), made);
  return made;
}

ValueId WeightQuantizer::ZeroPoints(int64_t channels) {
  const auto [known, is_new] = zero_points_.try_emplace(channels, kNoValue);
  if (is_new) {
    known->second =
        edit_.Initializer("weight_zero_point", {DType::kInt8, Shape{channels}},
                          DataOf(std::vector<int8_t>(static_cast<size_t>(channels))), false);
  }
  return known->second;
}

}  // namespace tinyprof
