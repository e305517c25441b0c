// How many times as fast one set of runs is as another, with the interval that this is known to.
#pragma once

#include <span>

namespace tinyprof::client {

// A median within one run with the ends of its confidence interval, ns; of several layers, their
// sums.
struct Span {
  double median_ns = 0;
  double low_ns = 0;
  double high_ns = 0;
};

// How many times as fast the second is: a ratio of medians.
struct Speedup {
  double value = 1;
  double ci_low = 1;
  double ci_high = 1;
  // The interval does not hold 1, and the ratio is further from it than the tolerance.
  bool significant = false;
};

// The geometric mean of the medians, ns; at least one run.
double TypicalNs(std::span<const Span> runs);

// Of one run on either side the interval holds every ratio of two values within the confidence
// intervals of the medians. It knows nothing of what differs between runs. Where a side has more,
// the interval is that of Student's two-sample t-test at 95 % on the logarithms of the medians,
// with one variance for both sides, so that one run may stand against several (Student, "The
// probable error of a mean", Biometrika 1908). Ratios that differ from 1 by at most `tolerance`, a
// share, are no difference.
Speedup SpeedupOf(std::span<const Span> a, std::span<const Span> b, double tolerance);

// The value that a t-distributed one lies within with 95 %, either way; at least one degree of
// freedom.
double StudentQuantile(int degrees_of_freedom);

}  // namespace tinyprof::client
