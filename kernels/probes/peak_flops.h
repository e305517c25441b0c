// The most floating-point operations a second that a core or a team of cores can do.
//
// Method: a register-only loop (known_loops.h) and, beside it in the same window, two clocks: the
// dependent additions of clock.h, and a chain of dependent instructions of the loop's own width. A
// core may slow down when its wide units are on and is quick to speed up again, so only the second
// has the loop's clock; the first says how many cycles, a whole number, one link of that chain
// takes.
#pragma once

#include <cstdint>

#include "kernels/probes/known_loops.h"
#include "kernels/probes/trials.h"

namespace tinyprof {

// FLOPs are those of FlopLoop::flops_per_iteration().
struct PeakResult {
  const FlopLoop* loop = nullptr;
  int threads = 1;
  RateSummary flops_per_second;  // of the whole team
  // Of one core. Rate and clock are both the 90th percentile of their trials: the best of either
  // alone may have been taken at a clock that the other never had.
  double flops_per_cycle = 0;
  double clock_hz = 0;     // while the loop runs
  int latency_cycles = 0;  // of one link of the chain
};

// Pin the team before. Takes about budget.total_ns or less.
PeakResult MeasurePeak(const FlopLoop& loop, int threads, const TrialBudget& budget);

}  // namespace tinyprof
