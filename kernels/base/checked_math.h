// Integer arithmetic on sizes that came from outside: overflow is an error, never a wrap.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "kernels/base/error.h"

namespace tinyprof {

// a * b, or OUT_OF_RANGE / "OVERFLOW" when it does not fit in 63 bits.
inline Result<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return Fail(ErrorCode::kOutOfRange, "OVERFLOW", "a size is larger than 2^63");
  }
  return product;
}

// a + b, or OUT_OF_RANGE / "OVERFLOW".
inline Result<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return Fail(ErrorCode::kOutOfRange, "OVERFLOW", "a size is larger than 2^63");
  }
  return sum;
}

// The product of all factors (1 for none), or OUT_OF_RANGE / "OVERFLOW".
inline Result<int64_t> CheckedProduct(std::span<const int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    TINYPROF_ASSIGN_OR_RETURN(product, CheckedMul(product, factor));
  }
  return product;
}
inline Result<int64_t> CheckedProduct(std::initializer_list<int64_t> factors) {
  return CheckedProduct(std::span<const int64_t>(factors.begin(), factors.size()));
}

}  // namespace tinyprof
