// Work whose instructions are known from its assembly, apart from the product's own known work.
#pragma once

#include <cstdint>

namespace tinyprof {

inline constexpr int64_t kInstructionsPerTurn = 2;

// n turns of one subtraction and one branch; nothing of it is in memory. n is at least 1.
inline void Spin(int64_t n) {
  asm volatile(
      "1:\n\t"
      "subs %0, %0, #1\n\t"
      "b.ne 1b"
      : "+r"(n)
      :
      : "cc");
}

}  // namespace tinyprof
