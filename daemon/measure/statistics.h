// Order statistics of times. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tinyprof {

// The distribution of a time over passes.
struct TimeStats {
  double median_ns = 0;  // of all passes, outliers included
  double mad_ns = 0;     // median absolute deviation from the median, unscaled
  double min_ns = 0;
  // Absent for fewer than 10, 20 and 100 passes, of which none is expected beyond them: they would
  // be the slowest pass by another name.
  std::optional<double> p90_ns;
  std::optional<double> p95_ns;
  std::optional<double> p99_ns;
  double ci_low_ns = 0;  // 95 % bootstrap confidence interval of the median
  double ci_high_ns = 0;
  int32_t n = 0;
  // Passes further than kOutlierDistance from the median; in every figure but trimmed_mean_ns.
  int32_t outliers = 0;
  double first_pass_ns = 0;    // the first pass after loading, in no other figure
  double trimmed_mean_ns = 0;  // without the outliers
};

// Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993): a modified z-score over 3.5.
// 1.4826 makes the MAD of a normal distribution its standard deviation.
inline constexpr double kOutlierDistance = 3.5 * 1.4826;  // in MADs

struct Interval {
  double low = 0;
  double high = 0;
};

// The q-quantile (0 <= q <= 1) of ascending samples, interpolated linearly between the two
// neighbours of rank q * (n - 1). `sorted` is not empty.
double Quantile(std::span<const double> sorted, double q);

// The middle sample, or the mean of the two middle ones. `samples` is not empty.
double Median(std::span<const double> samples);

// The 95 % percentile-bootstrap interval of the median of ascending samples, without resampling: a
// resample's r-th smallest is at most the k-th sample when at least r of its n draws are among the
// k smallest, so its distribution is the upper tail of a binomial(n, k/n) (Efron, "The Jackknife,
// the Bootstrap and Other Resampling Plans", 1982, chapter 10). Deterministic. For even n the lower
// end belongs to the lower of the two middle samples and the upper end to the upper one. `sorted`
// is not empty.
Interval MedianInterval(std::span<const double> sorted);

// Half the width of the median's interval over the median; 0 where all samples are equal, infinite
// where only the median is 0. `samples` is not empty, in any order.
double RelativeHalfWidth(std::span<const double> samples);

// All figures but first_pass_ns. `samples_ns` is not empty.
TimeStats SummarizeTimes(std::span<const double> samples_ns);

}  // namespace tinyprof
