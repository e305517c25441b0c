// How floats are laid onto 8-bit integers: x = (q - zero_point) * scale, as in ONNX's
// QuantizeLinear.
//
// Activations are uint8 with a zero point, so that a range that is not symmetric loses no step;
// weights and biases are signed with zero point 0, so that products need no correction for them.
#pragma once

#include <cstdint>
#include <limits>

namespace tinyprof {

// The least and the largest of some elements; empty: none was seen.
struct ValueRange {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();

  void Add(float element) {
    low = element < low ? element : low;
    high = element > high ? element : high;
  }
  bool empty() const { return low > high; }
};

struct ByteScale {
  float scale = 1;
  uint8_t zero_point = 0;
  bool operator==(const ByteScale&) const = default;
};

// The 255 steps over `range`, widened to hold 0, which padding and Relu need exact; the zero point
// is rounded half to even, as DynamicQuantizeLinear's. Scale 1 for a range that is empty, only 0 or
// too small for a normal float.
ByteScale ByteScaleOf(const ValueRange& range);

// The scale that maps -largest to largest onto -127 to 127; 0 when there is no step of a normal
// float.
float WeightScaleOf(float largest);

// round(x / scale), half to even, saturated to -127..127. `scale` > 0.
int8_t QuantizedWeight(float weight, float scale);
// round(x / scale), half to even, saturated to int32. `scale` > 0.
int32_t QuantizedBias(float bias, double scale);

}  // namespace tinyprof
