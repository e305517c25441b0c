// How kernels share work among the threads of the team.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tinyprof {

// Work below this many element operations is done by one thread: starting the team costs a few
// microseconds, about as much as this.
inline constexpr int64_t kMinParallelElements = 16384;

// Elements [begin, end) of `count` that part `index` of `parts` does; parts differ by at most one.
struct Partition {
  int64_t begin = 0;
  int64_t end = 0;
};
inline Partition PartOf(int64_t count, int64_t index, int64_t parts) {
  const int64_t base = count / parts;
  const int64_t rest = count % parts;
  const int64_t begin = index * base + std::min(index, rest);
  return {begin, begin + base + (index < rest ? 1 : 0)};
}

// Threads worth starting for `element_count` operations: all of them or one (never a number
// between, which would make the runtime give up pinned threads of the team).
inline int ThreadsFor(int64_t element_count, int threads) {
  return element_count < kMinParallelElements ? 1 : threads;
}

}  // namespace tinyprof
