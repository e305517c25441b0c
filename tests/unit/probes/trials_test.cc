#include "kernels/probes/trials.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

TEST(Summarize, OddCountByHand) {
  // Deviations from the median 4: 3 1 0 2 5, whose median is 2.
  const RateSummary summary = Summarize({1, 3, 4, 6, 9});
  EXPECT_DOUBLE_EQ(summary.best, 9);
  EXPECT_DOUBLE_EQ(summary.median, 4);
  EXPECT_DOUBLE_EQ(summary.relative_spread, 0.5);
  EXPECT_EQ(summary.trials, 5);
}

TEST(Summarize, OneRateHasNoSpread) {
  const RateSummary summary = Summarize({7});
  EXPECT_DOUBLE_EQ(summary.best, 7);
  EXPECT_DOUBLE_EQ(summary.median, 7);
  EXPECT_DOUBLE_EQ(summary.relative_spread, 0);
}

TEST(Summarize, AllZeroIsFinite) { EXPECT_DOUBLE_EQ(Summarize({0, 0}).relative_spread, 0); }

TEST(Median, EvenCountIsTheMeanOfTheMiddle) { EXPECT_DOUBLE_EQ(Median({10, 1, 2, 4}), 3); }

TEST(Percentile90, LeavesOutTheTopTenth) {
  EXPECT_DOUBLE_EQ(Percentile90({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99}), 10);
  EXPECT_DOUBLE_EQ(Percentile90({5}), 5);
}

TEST(TrialLoop, TakesAtLeastTheMinimumWhenTheBudgetIsSpent) {
  TrialLoop loop({.total_ns = 0, .min_trials = 3});
  int trials = 0;
  for (; loop.WantsMore(); ++trials) loop.Add(1);
  EXPECT_EQ(trials, 3);
}

TEST(TrialLoop, StopsWhenTheBestHasSettled) {
  TrialLoop loop(
      {.total_ns = INT64_MAX, .min_trials = 1, .settled_trials = 4, .settled_gain = 0.1});
  // 100 and 120 are gains; 125 is less than a tenth above 120 and is none.
  for (const double rate : {100.0, 120.0, 125.0, 90.0, 110.0}) {
    ASSERT_TRUE(loop.WantsMore());
    loop.Add(rate);
  }
  ASSERT_TRUE(loop.WantsMore());
  loop.Add(119);
  EXPECT_FALSE(loop.WantsMore());
}

}  // namespace
}  // namespace tinyprof
