// Work whose counts are known beforehand, to try events with.
#pragma once

#include <cstdint>
#include <functional>

namespace tinyprof {

// Functions of n, with what n units must count. Tests put their own in place.
struct KnownWork {
  // n iterations of one 4-lane single-precision addition and a two-instruction loop (x86-64), of
  // one addition, a subtraction and a branch (arm64).
  std::function<void(int64_t n)> arithmetic;
  int64_t instructions_per_iteration = 3;
  int64_t flops_per_iteration = 4;

  // Reads n cache lines that were flushed just before, in an order that prefetchers do not guess:
  // a miss of every level each.
  std::function<void(int64_t n)> cold_lines;

  // Touches n pages of fresh memory: one page fault each.
  std::function<void(int64_t n)> fresh_pages;
};

// The work of this CPU. Absent functions: this CPU has no such work (flushing needs an
// instruction).
KnownWork HostKnownWork();

}  // namespace tinyprof
