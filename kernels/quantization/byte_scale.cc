#include "kernels/quantization/byte_scale.h"

#include <algorithm>
#include <cmath>

namespace tinyprof {
namespace {

constexpr double kByteSteps = 255;
constexpr float kLargestWeight = 127;

// 0 where a division by it would not give what it should.
float NormalOrZero(double scale) {
  return scale < double{std::numeric_limits<float>::min()} ? 0 : static_cast<float>(scale);
}

}  // namespace

ByteScale ByteScaleOf(const ValueRange& range) {
  const double low = std::min(double{range.low}, 0.0);
  const double high = std::max(double{range.high}, 0.0);
  const float scale = range.empty() ? 0 : NormalOrZero((high - low) / kByteSteps);
  if (scale == 0) return {};
  const double zero_point = std::nearbyint(-low / double{scale});
  return {scale, static_cast<uint8_t>(std::clamp(zero_point, 0.0, kByteSteps))};
}

float WeightScaleOf(float largest) { return NormalOrZero(double{largest} / kLargestWeight); }

int8_t QuantizedWeight(float weight, float scale) {
  return static_cast<int8_t>(
      std::clamp(std::nearbyint(weight / scale), -kLargestWeight, kLargestWeight));
}

int32_t QuantizedBias(float bias, double scale) {
  constexpr double kLowest = std::numeric_limits<int32_t>::min();
  constexpr double kHighest = std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(std::clamp(std::nearbyint(double{bias} / scale), kLowest, kHighest));
}

}  // namespace tinyprof
