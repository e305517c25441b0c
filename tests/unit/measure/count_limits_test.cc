#include "daemon/measure/count_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A pass of 1 ms on one thread at 3 GHz, which is 3 million cycles, with counts that are right.
class CountLimitsTest : public ::testing::Test {
 protected:
  CountLimitsTest() {
    pass_.elapsed_ns = 1e6;
    pass_.clock_hz = 3e9;
    pass_.work = {.least_flops_single = 4e6, .weight_bytes = 8e6};
    Set(Metric::kCycles, 3e6);
    Set(Metric::kInstructions, 6e6);
    Set(Metric::kFlops, 8e6);
    Set(Metric::kL1dMisses, 1e5);
    Set(Metric::kL2Misses, 5e4);
    Set(Metric::kL3Misses, 0);
    Set(Metric::kDramBytes, 6.4e6);
    Set(Metric::kFlopsSingle, 8e6);
    Set(Metric::kFlopsDouble, 0);
    Set(Metric::kStallCycles, 1e6);
    Set(Metric::kBranchMisses, 0);
    Set(Metric::kDtlbMisses, 0);
  }

  void Set(Metric metric, std::optional<double> count) {
    pass_.counts[static_cast<size_t>(metric)] = count;
  }

  // What speaks against the metric; nothing: reason is empty.
  Doubt DoubtOf(Metric metric) const {
    Doubts doubts;
    InspectStretch(pass_, doubts);
    const Doubt* const found = doubts.Find(metric);
    return found == nullptr ? Doubt{} : *found;
  }
  size_t doubt_count() const {
    Doubts doubts;
    InspectStretch(pass_, doubts);
    return doubts.Take().size();
  }

  Stretch pass_;
};

TEST_F(CountLimitsTest, WhatARealPassCountsIsNotInDoubt) { EXPECT_EQ(doubt_count(), 0U); }

TEST_F(CountLimitsTest, APassTakesCyclesAndRetiresInstructions) {
  for (const Metric metric : {Metric::kCycles, Metric::kInstructions}) {
    const double count = *pass_.count(metric);
    Set(metric, 0);
    EXPECT_THAT(DoubtOf(metric).reason, StartsWith("STOPPED_MOVING: "));
    EXPECT_TRUE(DoubtOf(metric).impossible);
    Set(metric, count);
  }
}

TEST_F(CountLimitsTest, CyclesAreThoseOfTheClock) {
  // 8 times the clock is 24 million.
  for (const auto& [cycles, impossible] : {std::pair(24.1e6, true), std::pair(3e9, true),
                                           std::pair(0.37e6, false), std::pair(3e3, false)}) {
    Set(Metric::kCycles, cycles);
    EXPECT_THAT(DoubtOf(Metric::kCycles).reason, StartsWith("IMPLAUSIBLE: ")) << cycles;
    EXPECT_EQ(DoubtOf(Metric::kCycles).impossible, impossible) << cycles;
    EXPECT_EQ(doubt_count(), 1U) << "nothing else is judged by such cycles: " << cycles;
  }
  for (const double cycles : {0.38e6, 1e6, 23e6}) {
    Set(Metric::kCycles, cycles);
    EXPECT_EQ(DoubtOf(Metric::kCycles).reason, "") << cycles;
  }
  // Each thread of a team may spin.
  pass_.threads = 4;
  Set(Metric::kCycles, 90e6);
  EXPECT_EQ(DoubtOf(Metric::kCycles).reason, "");
  // A stand-in's cycles are of no clock.
  pass_.clock_hz.reset();
  Set(Metric::kCycles, 3e9);
  EXPECT_EQ(DoubtOf(Metric::kCycles).reason, "");
}

TEST_F(CountLimitsTest, NoCoreExecutesSoManyInstructionsACycle) {
  Set(Metric::kInstructions, 16.1 * 3e6);
  EXPECT_TRUE(DoubtOf(Metric::kInstructions).impossible);
  EXPECT_THAT(DoubtOf(Metric::kInstructions).reason, HasSubstr("more than any core executes"));
  EXPECT_EQ(DoubtOf(Metric::kCycles).reason, "") << "the clock confirms them";
  pass_.clock_hz.reset();
  EXPECT_TRUE(DoubtOf(Metric::kCycles).impossible) << "either may be wrong";
}

TEST_F(CountLimitsTest, EveryCountHasALimitThatNoCorePasses) {
  struct Row {
    Metric metric;
    double most;  // of 3 million cycles, 6 million instructions
  };
  const Row kRows[] = {{Metric::kFlops, 128 * 3e6},       {Metric::kFlopsSingle, 128 * 3e6},
                       {Metric::kFlopsDouble, 128 * 3e6}, {Metric::kL1dMisses, 2 * 3e6},
                       {Metric::kL2Misses, 2 * 3e6},      {Metric::kL3Misses, 2 * 3e6},
                       {Metric::kDramBytes, 128 * 3e6},   {Metric::kStallCycles, 1.5 * 3e6},
                       {Metric::kBranchMisses, 6e6},      {Metric::kDtlbMisses, 4 * 3e6}};
  for (const Row& row : kRows) {
    SCOPED_TRACE(Name(row.metric));
    const std::optional<double> right = pass_.count(row.metric);
    Set(row.metric, row.most);
    EXPECT_EQ(DoubtOf(row.metric).reason, "");
    Set(row.metric, row.most * 1.01);
    EXPECT_TRUE(DoubtOf(row.metric).impossible);
    EXPECT_THAT(DoubtOf(row.metric).reason, StartsWith("IMPLAUSIBLE: "));
    EXPECT_EQ(doubt_count(), 1U);
    Set(row.metric, right);
  }
}

TEST_F(CountLimitsTest, FlopsAreHeldAgainstInstructionsWhereThereAreNoCycles) {
  pass_.clock_hz.reset();
  Set(Metric::kCycles, std::nullopt);
  Set(Metric::kFlops, 129 * 6e6);
  EXPECT_TRUE(DoubtOf(Metric::kFlops).impossible);
  // And misses against the cycles that there can have been, 8 times the clock's.
  Set(Metric::kL1dMisses, 49e6);
  EXPECT_EQ(DoubtOf(Metric::kL1dMisses).reason, "");
  pass_.clock_hz = 3e9;
  EXPECT_TRUE(DoubtOf(Metric::kL1dMisses).impossible);
}

TEST_F(CountLimitsTest, FlopsThatThePassCannotDoWithoutAreNotZero) {
  for (const Metric metric : {Metric::kFlops, Metric::kFlopsSingle}) {
    Set(metric, 0);
    EXPECT_THAT(DoubtOf(metric).reason, StartsWith("STOPPED_MOVING: "));
    EXPECT_TRUE(DoubtOf(metric).impossible);
    Set(metric, 8e6);
  }
  EXPECT_EQ(DoubtOf(Metric::kFlopsDouble).reason, "") << "all of the work is in single precision";
  // Half of them, as where a multiply-add counts as one, and fewer than that.
  Set(Metric::kFlops, 2e6);
  EXPECT_EQ(DoubtOf(Metric::kFlops).reason, "");
  Set(Metric::kFlops, 1.6e6);
  EXPECT_THAT(DoubtOf(Metric::kFlops).reason, StartsWith("IMPLAUSIBLE: "));
  EXPECT_FALSE(DoubtOf(Metric::kFlops).impossible);
  // Integers, copies and maxima alone.
  pass_.work = {};
  Set(Metric::kFlops, 0);
  EXPECT_EQ(DoubtOf(Metric::kFlops).reason, "");
}

TEST_F(CountLimitsTest, ALongPassStallsAndMissesTheFirstLineOfPages) {
  Set(Metric::kStallCycles, 0);
  EXPECT_THAT(DoubtOf(Metric::kStallCycles).reason, StartsWith("STOPPED_MOVING: "));
  Set(Metric::kL1dMisses, 0);
  EXPECT_THAT(DoubtOf(Metric::kL1dMisses).reason, StartsWith("STOPPED_MOVING: "));
  pass_.work.weight_bytes = 40'000;  // fit the cache
  EXPECT_EQ(DoubtOf(Metric::kL1dMisses).reason, "");
  Set(Metric::kCycles, 5e5);
  EXPECT_EQ(DoubtOf(Metric::kStallCycles).reason, "");
}

TEST_F(CountLimitsTest, ShortStretchesAreNotJudgedByTime) {
  // Views alone: what reading the counters takes is more, and nothing is left.
  pass_.elapsed_ns = 900;
  pass_.work = {};
  for (const Metric metric : kMetrics) Set(metric, 0);
  EXPECT_EQ(doubt_count(), 0U);
  Set(Metric::kL1dMisses, 30);
  EXPECT_EQ(doubt_count(), 0U);
  // Of a layer, in which fewer reads cancel each other out, ratios hold within their noise.
  pass_.layer = 3;
  pass_.elapsed_ns = 25'000;
  for (const Metric metric : kMetrics) Set(metric, 1e4);
  EXPECT_EQ(doubt_count(), 0U);
  Set(Metric::kInstructions, 0);
  EXPECT_THAT(DoubtOf(Metric::kInstructions).reason, HasSubstr("layer 3"));
  EXPECT_EQ(DoubtOf(Metric::kInstructions).layer, 3U);
}

TEST_F(CountLimitsTest, AbsentCountsAreNotInDoubt) {
  for (const Metric metric : kMetrics) Set(metric, std::nullopt);
  EXPECT_EQ(doubt_count(), 0U);
}

}  // namespace
}  // namespace tinyprof
