#include "daemon/measure/stopping_rule.h"

#include <gtest/gtest.h>

#include <vector>

namespace tinyprof {
namespace {

using Stop = std::optional<std::string_view>;

TEST(StoppingRule, PrecisionNeedsFivePassesOfBothSeries) {
  StoppingRule rule({.precision = 0.01, .deadline_ns = 1000});
  const std::vector<double> steady(8, 100.0);
  EXPECT_EQ(rule.Check(std::span(steady).first(4), std::span(steady).first(4), 10), Stop());
  EXPECT_EQ(rule.Check(std::span(steady).first(5), std::span(steady).first(4), 10), Stop());
  EXPECT_EQ(rule.Check(std::span(steady).first(5), std::span(steady).first(5), 10), "precision");
  EXPECT_EQ(rule.precision_reached(), 1);
}

TEST(StoppingRule, TheWiderOfBothIntervalsCounts) {
  StoppingRule rule({.precision = 0.01, .deadline_ns = 1000});
  const std::vector<double> steady(5, 100.0);
  const std::vector<double> noisy = {96, 98, 100, 102, 104};  // half-width 4 %
  EXPECT_EQ(rule.Check(steady, noisy, 10), Stop());
  EXPECT_DOUBLE_EQ(rule.precision_reached(), 0.25);
}

TEST(StoppingRule, TheBudgetEndsAtThreePassesAtTheEarliest) {
  StoppingRule rule({.precision = 0.01, .deadline_ns = 1000});
  const std::vector<double> noisy = {1, 2, 3};
  EXPECT_EQ(rule.Check(std::span(noisy).first(2), std::span(noisy).first(2), 5000), Stop());
  EXPECT_EQ(rule.Check(noisy, noisy, 999), Stop());
  EXPECT_EQ(rule.Check(noisy, noisy, 1000), "budget");
}

TEST(StoppingRule, PrecisionReachedWithTheLastOfTheBudgetIsPrecision) {
  StoppingRule rule({.precision = 0.01, .deadline_ns = 1000});
  const std::vector<double> steady(6, 100.0);
  EXPECT_EQ(rule.Check(steady, steady, 1000), "precision");
}

TEST(StoppingRule, PrecisionWaitsForTheEarliestTime) {
  StoppingRule rule({.precision = 0.01, .earliest_ns = 500, .deadline_ns = 1000});
  const std::vector<double> steady(40, 100.0);
  EXPECT_EQ(rule.Check(std::span(steady).first(5), std::span(steady).first(5), 499), Stop());
  EXPECT_EQ(rule.Check(std::span(steady).first(6), std::span(steady).first(6), 500), "precision");
}

TEST(StoppingRule, PrecisionReachedWithTheLastOfThePassesIsPrecision) {
  StoppingRule rule({.precision = 0.01, .earliest_ns = 500, .deadline_ns = 1000, .max_passes = 6});
  const std::vector<double> steady(6, 100.0);
  EXPECT_EQ(rule.Check(std::span(steady).first(5), std::span(steady).first(5), 10), Stop());
  EXPECT_EQ(rule.Check(steady, steady, 10), "precision");
}

TEST(StoppingRule, TheGreatestNumberOfPassesIsABudgetToo) {
  StoppingRule rule({.precision = 1e-9, .deadline_ns = 1000, .max_passes = 4});
  const std::vector<double> noisy = {1, 2, 3, 4};
  EXPECT_EQ(rule.Check(std::span(noisy).first(3), std::span(noisy).first(3), 1), Stop());
  EXPECT_EQ(rule.Check(noisy, noisy, 1), "budget");
}

}  // namespace
}  // namespace tinyprof
