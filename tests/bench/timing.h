// How the benchmarks that run on one thread take and summarize times.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace tinyprof::bench {

// CPU time of this thread: other programs on the machine disturb it less than the time of day.
inline double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The quantile `q`, 0 to 1, of `values`, at least one.
inline double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

}  // namespace tinyprof::bench
