// Copies of every stride-th element.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// to[i] = from[stride * i] for `count` i.
inline void CopyStrided(const float* from, int64_t stride, int64_t count, float* to) {
  if (stride == 1) {
    std::copy_n(from, count, to);
  } else if (stride == 2) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[stride * i];
  }
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
