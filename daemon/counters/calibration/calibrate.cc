#include "daemon/counters/calibration/calibrate.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "daemon/counters/calibration/count_loops.h"
#include "daemon/counters/calibration/expectations.h"
#include "daemon/counters/counter_errors.h"

namespace tinyprof {
namespace {

int64_t SteadyNowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Calibrator::Calibrator(CounterBackend& backend, std::span<const KnownLoop> loops,
                       const CalibrationOptions& options)
    : backend_(backend), loops_(loops), options_(options) {
  if (!options_.now_ns) {
    options_.now_ns = SteadyNowNs;
  }
  begin_ns_ = options_.now_ns();
}

double Calibrator::elapsed_ns() const { return static_cast<double>(options_.now_ns() - begin_ns_); }

MetricVerdict Calibrator::Calibrate(Metric metric, const Formula& formula) {
  std::vector<const KnownLoop*> concerned;
  for (const KnownLoop& loop : loops_) {
    if (Concerns(metric, loop.facts)) {
      concerned.push_back(&loop);
    }
  }
  const CountingBudget budget{.now_ns = options_.now_ns,
                              .deadline_ns = begin_ns_ + options_.budget_ns,
                              .repeats = options_.repeats};
  Result<std::vector<LoopSample>> samples = CountLoops(backend_, formula, concerned, budget);
  if (!samples.has_value()) {
    return {.reason = ReasonOf(samples.error())};
  }
  for (const LoopSample& sample : *samples) {
    complete_ = complete_ && !sample.lost_reason.starts_with("NO_TIME");
  }
  return judge_.Judge(metric, formula.ToString(), *std::move(samples));
}

}  // namespace tinyprof
