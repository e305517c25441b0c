// Rows of numbers rounded to 8 bits, in loops that compilers vectorize.
#pragma once

#include <cstdint>
#include <limits>

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// saturate(round(value) + zero), halves to even; NaN becomes the low end.
//
// Bounds are whole numbers, so that to round what lies between them comes to the same as to bound
// what was rounded; and there adding 1.5 * 2^23 leaves no room for a fraction.
template <class Q>
Q Rounded(float value, int32_t zero) {
  const auto low = static_cast<float>(std::numeric_limits<Q>::min() - zero);
  const auto high = static_cast<float>(std::numeric_limits<Q>::max() - zero);
  constexpr float kShift = 0x1.8p23F;
  // Two choices, neither inside of the other, or compilers do not vectorize them.
  const float not_below = value > low ? value : low;
  const float bounded = not_below < high ? not_below : high;
  const float rounded = (bounded + kShift) - kShift;
  return static_cast<Q>(static_cast<int32_t>(rounded) + zero);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
