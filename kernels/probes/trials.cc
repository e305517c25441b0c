#include "kernels/probes/trials.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "kernels/base/check.h"

namespace tinyprof {

int64_t MonotonicNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double Median(std::vector<double> values) {
  TINYPROF_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

double Percentile90(std::vector<double> values) {
  TINYPROF_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) * 9 / 10];
}

RateSummary Summarize(std::vector<double> rates) {
  RateSummary summary;
  summary.trials = static_cast<int>(rates.size());
  summary.median = Median(rates);
  summary.best = *std::max_element(rates.begin(), rates.end());
  for (double& rate : rates) rate = std::abs(rate - summary.median);
  const double deviation = Median(std::move(rates));
  summary.relative_spread = summary.median > 0 ? deviation / summary.median : 0;
  return summary;
}

bool TrialLoop::WantsMore() const {
  if (static_cast<int>(rates_.size()) < budget_.min_trials) return true;
  if (trials_since_gain_ >= budget_.settled_trials) return false;
  return MonotonicNs() - start_ns_ < budget_.total_ns;
}

void TrialLoop::Add(double rate) {
  rates_.push_back(rate);
  if (rate > settled_best_ * (1 + budget_.settled_gain)) {
    settled_best_ = rate;
    trials_since_gain_ = 0;
  } else {
    ++trials_since_gain_;
  }
}

}  // namespace tinyprof
