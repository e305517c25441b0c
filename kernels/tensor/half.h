// The 16-bit floating-point types: storage only, arithmetic is done in float.
#pragma once

#include <bit>
#include <cstdint>

namespace tinyprof {

// IEEE 754 binary16.
struct Half {
  uint16_t bits = 0;
};

// The upper half of a binary32.
struct BFloat16 {
  uint16_t bits = 0;
};

inline float ToFloat(Half half) {
  const uint32_t sign = (half.bits & 0x8000U) << 16;
  const uint32_t magnitude = half.bits & 0x7FFFU;
  if (magnitude >= 0x7C00U) {
    return std::bit_cast<float>(sign | 0x7F800000U | (magnitude & 0x3FFU) << 13);
  }
  // In a float's place the exponent is 112 too small; the product is right for subnormals too.
  const float shifted = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(shifted));
}

inline float ToFloat(BFloat16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

// To the nearest; ties to even; what is too large becomes infinite.
inline Half ToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000U;
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  const auto with_sign = [sign](uint32_t half) { return Half{static_cast<uint16_t>(sign | half)}; };
  constexpr uint32_t kInfinity = 0x7F800000U;
  constexpr uint32_t kFirstTooLarge = 0x477FF000U;   // 65520
  constexpr uint32_t kSmallestNormal = 0x38800000U;  // 2^-14
  if (magnitude > kInfinity) return with_sign(0x7E00U);
  if (magnitude >= kFirstTooLarge) return with_sign(0x7C00U);
  if (magnitude < kSmallestNormal) {
    // The float addition rounds to multiples of 2^-24, which subnormals are.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return with_sign(std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5F));
  }
  const uint32_t odd = magnitude >> 13 & 1U;
  return with_sign((magnitude - 0x38000000U + 0xFFFU + odd) >> 13);
}

inline BFloat16 ToBFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const uint32_t rounded = is_nan ? bits | 0x400000U : bits + 0x7FFFU + (bits >> 16 & 1U);
  return {static_cast<uint16_t>(rounded >> 16)};
}

}  // namespace tinyprof
