// Runs the same work on every thread of the OpenMP team and times it from the first start to the
// last end.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/probes/trials.h"

namespace tinyprof {

// Nanoseconds (at least 1) from the first thread's start of work(thread_index) to the last one's
// end, after a barrier. Pin the team first (kernels/runtime/team.h); called by the master of the
// team.
template <class Work>
int64_t TimeOnTeam(int threads, const Work& work) {
  std::vector<int64_t> start_ns(static_cast<size_t>(threads));
  std::vector<int64_t> end_ns(static_cast<size_t>(threads));
  const auto timed = [&](int thread) {
    start_ns[static_cast<size_t>(thread)] = MonotonicNs();
    work(thread);
    end_ns[static_cast<size_t>(thread)] = MonotonicNs();
  };
  if (threads == 1) {
    timed(0);
  } else {
#pragma omp parallel num_threads(threads) default(shared)
    {
#pragma omp barrier
      timed(omp_get_thread_num());
    }
  }
  const int64_t first_ns = *std::min_element(start_ns.begin(), start_ns.end());
  const int64_t last_ns = *std::max_element(end_ns.begin(), end_ns.end());
  return std::max<int64_t>(last_ns - first_ns, 1);
}

}  // namespace tinyprof
