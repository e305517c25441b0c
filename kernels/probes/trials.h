// Repeated trials on a machine that others use too: how many to take, and what to keep of them.
//
// A trial that was disturbed is only ever slower, so the best of many short trials is the ceiling
// and the median says how often the machine lets a program reach it.
#pragma once

#include <cstdint>
#include <vector>

namespace tinyprof {

// Nanoseconds of the monotonic clock. Its source may be the TSC, which is no measure of core
// cycles.
int64_t MonotonicNs();

struct TrialBudget {
  int64_t total_ns = 150'000'000;  // no trial starts later than this after the first one
  int min_trials = 5;              // taken even when they pass total_ns
  // Stop early when the best has not risen by more than `settled_gain` for `settled_trials` trials.
  int settled_trials = 100;
  double settled_gain = 1e-3;
};

// Rates of a set of trials, in the unit of the caller (per second).
struct RateSummary {
  double best = 0;
  double median = 0;
  // Median absolute deviation from the median, as a fraction of the median.
  double relative_spread = 0;
  int trials = 0;
};

// `rates` holds at least one rate.
RateSummary Summarize(std::vector<double> rates);

// The element that nine tenths of the values do not pass. `values` holds at least one.
double Percentile90(std::vector<double> values);

// The middle element, or the mean of the two in the middle. `values` holds at least one.
double Median(std::vector<double> values);

// Decides whether another trial is due. Used by one thread:
//   for (TrialLoop loop(budget); loop.WantsMore();) loop.Add(MeasureOnce());
class TrialLoop {
 public:
  explicit TrialLoop(const TrialBudget& budget) : budget_(budget), start_ns_(MonotonicNs()) {}
  bool WantsMore() const;
  void Add(double rate);
  const std::vector<double>& rates() const { return rates_; }

 private:
  TrialBudget budget_;
  int64_t start_ns_;
  std::vector<double> rates_;
  double settled_best_ = 0;
  int trials_since_gain_ = 0;
};

}  // namespace tinyprof
