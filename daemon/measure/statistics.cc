#include "daemon/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/base/check.h"

namespace tinyprof {
namespace {

constexpr double kTail = 0.025;  // on each side of a 95 % interval

// P(X >= r) for X binomial(n, k/n), 0 < k < n: the terms from r up, each from the one before.
double BinomialUpperTail(int64_t n, int64_t k, int64_t r) {
  const auto trials = static_cast<double>(n);
  const double p = static_cast<double>(k) / trials;
  const auto first = static_cast<double>(r);
  double term =
      std::exp(std::lgamma(trials + 1) - std::lgamma(first + 1) - std::lgamma(trials - first + 1) +
               first * std::log(p) + (trials - first) * std::log1p(-p));
  double sum = 0;
  for (int64_t i = r; i <= n && (term > sum * 1e-17 || static_cast<double>(i) <= trials * p); ++i) {
    sum += term;
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1) * (p / (1 - p));
  }
  return std::min(sum, 1.0);
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

TimeStats SummarizeTimes(std::span<const double> samples_ns) {
  TINYPROF_CHECK(!samples_ns.empty());
  std::vector<double> sorted(samples_ns.begin(), samples_ns.end());
  std::sort(sorted.begin(), sorted.end());
  TimeStats stats;
  stats.n = static_cast<int32_t>(sorted.size());
  stats.median_ns = SortedMedian(sorted);
  stats.min_ns = sorted.front();
  stats.p90_ns = Quantile(sorted, 0.90);
  stats.p95_ns = Quantile(sorted, 0.95);
  stats.p99_ns = Quantile(sorted, 0.99);
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
