#include "daemon/measure/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

namespace tinyprof {
namespace {

TEST(Quantile, InterpolatesBetweenRanks) {
  const std::vector<double> sorted = {10, 20, 30, 40, 50};
  EXPECT_EQ(Quantile(sorted, 0), 10);
  EXPECT_EQ(Quantile(sorted, 0.5), 30);
  EXPECT_EQ(Quantile(sorted, 1), 50);
  EXPECT_DOUBLE_EQ(Quantile(sorted, 0.9), 46);   // rank 3.6
  EXPECT_DOUBLE_EQ(Quantile(sorted, 0.95), 48);  // rank 3.8
  EXPECT_EQ(Quantile(std::vector<double>{7}, 0.99), 7);
}

TEST(Median, OfOddAndEvenCountsInAnyOrder) {
  EXPECT_EQ(Median(std::span<const double>(std::vector<double>{9, 1, 5})), 5);
  EXPECT_EQ(Median(std::span<const double>(std::vector<double>{8, 1, 3, 100})), 5.5);
}

TEST(RelativeHalfWidth, OfFiveSamplesIsHalfTheRangeOverTheMedian) {
  // Of five samples the interval is the whole range: 2.5 % of resamples have their median at the
  // least sample already (P(at least 3 of 5 draws) = 5.8 %).
  const std::vector<double> samples = {104, 96, 100, 101, 98};
  EXPECT_DOUBLE_EQ(RelativeHalfWidth(samples), 0.04);
  EXPECT_EQ(RelativeHalfWidth(std::vector<double>(5, 7.0)), 0);
  EXPECT_EQ(RelativeHalfWidth(std::vector<double>(5, 0.0)), 0);
}

TEST(SummarizeTimes, ByHand) {
  // Median 12; deviations 2 1 0 0 1 2 88 -> sorted 0 0 1 1 2 2 88, MAD 1; the limit is 5.19.
  const std::vector<double> samples = {10, 11, 12, 12, 13, 14, 100};
  const TimeStats stats = SummarizeTimes(samples);
  EXPECT_EQ(stats.median_ns, 12);
  EXPECT_EQ(stats.mad_ns, 1);
  EXPECT_EQ(stats.min_ns, 10);
  EXPECT_EQ(stats.n, 7);
  EXPECT_EQ(stats.outliers, 1);
  EXPECT_DOUBLE_EQ(stats.trimmed_mean_ns, 12);  // 72 / 6
}

std::vector<double> OneTo(size_t n) {
  std::vector<double> samples(n);
  std::iota(samples.begin(), samples.end(), 1.0);
  return samples;
}

TEST(SummarizeTimes, APercentileWantsAPassBeyondIt) {
  EXPECT_EQ(SummarizeTimes(OneTo(9)).p90_ns, std::nullopt);
  EXPECT_NEAR(SummarizeTimes(OneTo(10)).p90_ns.value(), 9.1, 1e-9);  // rank 8.1
  EXPECT_EQ(SummarizeTimes(OneTo(19)).p95_ns, std::nullopt);
  EXPECT_NEAR(SummarizeTimes(OneTo(20)).p95_ns.value(), 19.05, 1e-9);  // rank 18.05
  EXPECT_EQ(SummarizeTimes(OneTo(99)).p99_ns, std::nullopt);
  EXPECT_NEAR(SummarizeTimes(OneTo(100)).p99_ns.value(), 99.01, 1e-9);  // rank 98.01
}

TEST(SummarizeTimes, TheOutlierLimitIsInclusive) {
  // Median 0, MAD 1: the limit is 5.1891.
  EXPECT_EQ(SummarizeTimes(std::vector<double>{-1, -1, 0, 1, 5.18}).outliers, 0);
  EXPECT_EQ(SummarizeTimes(std::vector<double>{-1, -1, 0, 1, 5.19}).outliers, 1);
}

TEST(SummarizeTimes, EqualSamplesHaveNoSpread) {
  const TimeStats stats = SummarizeTimes(std::vector<double>(9, 5.0));
  EXPECT_EQ(stats.mad_ns, 0);
  EXPECT_EQ(stats.ci_low_ns, 5);
  EXPECT_EQ(stats.ci_high_ns, 5);
  EXPECT_EQ(stats.outliers, 0);
  EXPECT_EQ(stats.trimmed_mean_ns, 5);
}

TEST(SummarizeTimes, OneSampleIsItsOwnInterval) {
  const TimeStats stats = SummarizeTimes(std::vector<double>{3});
  EXPECT_EQ(stats.n, 1);
  EXPECT_EQ(stats.ci_low_ns, 3);
}

// The interval by making every one of the n^n resamples.
Interval ByEnumeration(size_t n) {
  std::vector<int64_t> lower_count(n);
  std::vector<int64_t> upper_count(n);
  std::vector<size_t> draw(n, 0);
  int64_t total = 0;
  while (true) {
    std::vector<size_t> sorted = draw;
    std::sort(sorted.begin(), sorted.end());
    ++lower_count[sorted[(n + 1) / 2 - 1]];
    ++upper_count[sorted[n / 2]];
    ++total;
    size_t digit = 0;
    while (digit < n && ++draw[digit] == n) {
      draw[digit++] = 0;
    }
    if (digit == n) {
      break;
    }
  }
  const auto rank_at = [&](const std::vector<int64_t>& counts, double wanted) {
    int64_t sum = 0;
    for (size_t k = 0; k < n; ++k) {
      sum += counts[k];
      if (static_cast<double>(sum) >= wanted * static_cast<double>(total)) {
        return static_cast<double>(k + 1);
      }
    }
    return static_cast<double>(n);
  };
  return {rank_at(lower_count, 0.025), rank_at(upper_count, 0.975)};
}

TEST(MedianInterval, EqualsTheBootstrapOverEveryResample) {
  for (size_t n = 2; n <= 7; ++n) {
    std::vector<double> ranks(n);
    for (size_t i = 0; i < n; ++i) {
      ranks[i] = static_cast<double>(i + 1);
    }
    const Interval wanted = ByEnumeration(n);
    const Interval got = MedianInterval(ranks);
    EXPECT_EQ(got.low, wanted.low) << n;
    EXPECT_EQ(got.high, wanted.high) << n;
  }
}

TEST(MedianInterval, FollowsTheNormalLimitForManySamples) {
  // The ranks are n/2 +- 1.96 sqrt(n)/2, within the one that rounding may move.
  for (const size_t n : {1001U, 10001U, 100000U}) {
    std::vector<double> ranks(n);
    for (size_t i = 0; i < n; ++i) {
      ranks[i] = static_cast<double>(i + 1);
    }
    const double half_width = 1.959964 * std::sqrt(static_cast<double>(n)) / 2;
    const Interval interval = MedianInterval(ranks);
    EXPECT_NEAR(interval.low, static_cast<double>(n + 1) / 2 - half_width, 1.5) << n;
    EXPECT_NEAR(interval.high, static_cast<double>(n + 1) / 2 + half_width, 1.5) << n;
  }
}

// Share of data sets whose interval holds the true median.
template <class Distribution>
double Coverage(Distribution distribution, double true_median, size_t n) {
  std::mt19937_64 random(20240611);
  constexpr int kSets = 4000;
  int covered = 0;
  for (int set = 0; set < kSets; ++set) {
    std::vector<double> samples(n);
    for (double& sample : samples) {
      sample = distribution(random);
    }
    std::sort(samples.begin(), samples.end());
    const Interval interval = MedianInterval(samples);
    covered += interval.low <= true_median && true_median <= interval.high ? 1 : 0;
  }
  return static_cast<double>(covered) / kSets;
}

TEST(MedianInterval, CoversTheTrueMedianAboutNineteenTimesInTwenty) {
  for (const size_t n : {15U, 40U, 101U}) {
    const double normal = Coverage(std::normal_distribution<double>(100, 15), 100, n);
    EXPECT_GT(normal, 0.92) << n;
    EXPECT_LT(normal, 0.985) << n;
    const double skewed = Coverage(std::exponential_distribution<double>(1), std::log(2.0), n);
    EXPECT_GT(skewed, 0.92) << n;
    EXPECT_LT(skewed, 0.985) << n;
  }
}

}  // namespace
}  // namespace tinyprof
