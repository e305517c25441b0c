#include "daemon/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/base/check.h"

namespace tinyprof {
namespace {

constexpr double kTail = 0.025;  // on each side of a 95 % interval

// P(X = i) for X binomial(n, p), 0 < p < 1.
double BinomialTerm(double n, double p, double i) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) +
                  i * std::log(p) + (n - i) * std::log1p(-p));
}

// P(X >= r) for X binomial(n, k/n), 0 < k < n, 1 <= r <= n. Terms are summed away from the mode,
// each from the one before: they fall from the first on, and one that underflows stands for a tail
// of 0.
double BinomialUpperTail(int64_t n, int64_t k, int64_t r) {
  const auto trials = static_cast<double>(n);
  const double p = static_cast<double>(k) / trials;
  const double odds = p / (1 - p);
  const bool above_mode = r > k;
  auto i = static_cast<double>(above_mode ? r : r - 1);
  double term = BinomialTerm(trials, p, i);
  double sum = 0;
  while (i >= 0 && i <= trials && term > sum * 1e-17) {
    sum += term;
    term *= above_mode ? (trials - i) / (i + 1) * odds : i / (trials - i + 1) / odds;
    i += above_mode ? 1 : -1;
  }
  return above_mode ? sum : 1 - sum;
}

// The smallest k, 1 to n, at which a resample's r-th smallest is at most the k-th sample with a
// probability of at least `wanted`.
int64_t BootstrapQuantileRank(int64_t n, int64_t r, double wanted) {
  int64_t low = 1;
  int64_t high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (BinomialUpperTail(n, middle, r) >= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

double SortedMedian(std::span<const double> sorted) {
  const size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

}  // namespace

double Quantile(std::span<const double> sorted, double q) {
  TINYPROF_CHECK(!sorted.empty() && q >= 0 && q <= 1);
  const double rank = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(rank);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double Median(std::span<const double> samples) {
  TINYPROF_CHECK(!samples.empty());
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return SortedMedian(sorted);
}

Interval MedianInterval(std::span<const double> sorted) {
  TINYPROF_CHECK(!sorted.empty());
  const auto n = static_cast<int64_t>(sorted.size());
  if (n == 1) {
    return {sorted[0], sorted[0]};
  }
  const int64_t lower_middle = (n + 1) / 2;
  const int64_t upper_middle = n / 2 + 1;
  const int64_t low = BootstrapQuantileRank(n, lower_middle, kTail);
  const int64_t high = BootstrapQuantileRank(n, upper_middle, 1 - kTail);
  return {sorted[static_cast<size_t>(low - 1)], sorted[static_cast<size_t>(high - 1)]};
}

double RelativeHalfWidth(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const Interval interval = MedianInterval(sorted);
  const double half_width = (interval.high - interval.low) / 2;
  if (half_width == 0) {
    return 0;
  }
  const double median = Quantile(sorted, 0.5);
  return median > 0 ? half_width / median : std::numeric_limits<double>::infinity();
}

TimeStats SummarizeTimes(std::span<const double> samples_ns) {
  TINYPROF_CHECK(!samples_ns.empty());
  std::vector<double> sorted(samples_ns.begin(), samples_ns.end());
  std::sort(sorted.begin(), sorted.end());
  TimeStats stats;
  stats.n = static_cast<int32_t>(sorted.size());
  stats.median_ns = SortedMedian(sorted);
  stats.min_ns = sorted.front();
  if (stats.n >= 10) stats.p90_ns = Quantile(sorted, 0.90);
  if (stats.n >= 20) stats.p95_ns = Quantile(sorted, 0.95);
  if (stats.n >= 100) stats.p99_ns = Quantile(sorted, 0.99);
  const Interval interval = MedianInterval(sorted);
  stats.ci_low_ns = interval.low;
  stats.ci_high_ns = interval.high;

  std::vector<double> deviations;
  deviations.reserve(sorted.size());
  for (const double sample : sorted) {
    deviations.push_back(std::abs(sample - stats.median_ns));
  }
  stats.mad_ns = Median(deviations);

  double kept_sum = 0;
  for (const double sample : sorted) {
    if (std::abs(sample - stats.median_ns) > kOutlierDistance * stats.mad_ns) {
      ++stats.outliers;
    } else {
      kept_sum += sample;
    }
  }
  // At least half of the samples are within one MAD of the median, so some are kept.
  stats.trimmed_mean_ns = kept_sum / static_cast<double>(stats.n - stats.outliers);
  return stats;
}

}  // namespace tinyprof
