// Finds out how far a metric can be trusted, by counting loops of known count.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "daemon/counters/calibration/judge.h"
#include "daemon/counters/calibration/known_loop.h"
#include "daemon/counters/counter_backend.h"
#include "daemon/counters/event_catalogue.h"

namespace tinyprof {

struct CalibrationOptions {
  int64_t budget_ns = 2'000'000'000;  // for all metrics
  int repeats = 3;                    // of each loop
  std::function<int64_t()> now_ns;    // monotonic; empty: the system's clock
};

// Calibrates metrics one after another within one budget, on the calling thread, as thread 0 of the
// backend. Calibrate cycles first: stall cycles are judged by them.
class Calibrator {
 public:
  // All arguments outlive the object. Time begins to run.
  Calibrator(CounterBackend& backend, std::span<const KnownLoop> loops,
             const CalibrationOptions& options);

  // Counts the loops that concern `metric` with `formula` and judges what came out. A formula whose
  // events are refused is not usable, for that reason. Once time is over only one loop is counted.
  MetricVerdict Calibrate(Metric metric, const Formula& formula);

  // What was counted so far of every formula that was tried: the time, and whether it sufficed.
  double elapsed_ns() const;
  bool complete() const { return complete_; }

 private:
  CounterBackend& backend_;
  std::span<const KnownLoop> loops_;
  CalibrationOptions options_;
  int64_t begin_ns_ = 0;
  bool complete_ = true;
  MetricJudge judge_;
};

}  // namespace tinyprof
