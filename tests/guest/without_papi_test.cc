// At Debian's level of perf_event_paranoid root may count and PAPI does not: the host's backend is
// the kernel's own. Runs as root at level 3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/counter_plan.h"
#include "daemon/counters/host_backend.h"
#include "daemon/counters/try_group.h"
#include "tests/guest/other_profiler.h"
#include "tests/guest/spin.h"
#include "tests/guest/thread_work.h"

namespace tinyprof {
namespace {

using ::testing::AnyOf;
using ::testing::StartsWith;

const std::vector<std::string> kEvents = {"INST_RETIRED", "CPU_CYCLES"};

TEST(WithoutPapi, TheEventsOfTheCpuAreKnownAndExact) {
  const auto host = MakeHostBackend(1);
  EXPECT_EQ(host->info().name, "perf_event");
  EXPECT_EQ(host->info().unusable_reason, "");
  for (const int64_t turns : {1, 1'000, 1'000'000}) {
    const Result<std::vector<int64_t>> counts = CountWork(*host, kEvents, Spin, turns);
    ASSERT_TRUE(counts.has_value()) << ReasonOf(counts.error());
    EXPECT_EQ((*counts)[0], kInstructionsPerTurn * turns);
    EXPECT_GT((*counts)[1], 0);
  }
}

TEST(WithoutPapi, APlanCountsInstructionsExactlyAndLeavesOutWhatNeverMoves) {
  const auto host = MakeHostBackend(1);
  const CounterPlan plan = PlanCounters(*host, HostKnownWork());
  EXPECT_EQ(plan.unusable_reason, "");
  const PlannedMetric& instructions = plan.metric(Metric::kInstructions);
  EXPECT_EQ(instructions.quality, Quality::kExact) << instructions.reason;
  EXPECT_EQ(instructions.measured, instructions.expected);
  for (const Metric metric : {Metric::kL1dMisses, Metric::kL2Misses, Metric::kL3Misses}) {
    EXPECT_FALSE(plan.metric(metric).usable()) << Name(metric);
    EXPECT_THAT(plan.metric(metric).reason, StartsWith("NEVER_MOVES: ")) << Name(metric);
  }
}

TEST(WithoutPapi, CountersThatAnotherHoldsAreRefused) {
  const auto host = MakeHostBackend(1);
  {
    const OtherProfiler other;
    const Status refused = TryGroup(*host, kEvents);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().reason, AnyOf("COUNTER_BUSY", "GROUP_FULL"))
        << ReasonOf(refused.error());
  }
  EXPECT_TRUE(TryGroup(*host, kEvents).has_value());
}

TEST(WithoutPapi, AGroupThatLosesItsCountersIsLostAndReadsNoStaleValue) {
  const auto host = MakeHostBackend(1);
  const auto work_while_another_comes = [](int64_t turns) {
    const OtherProfiler other;
    Spin(turns);
  };
  const Result<std::vector<int64_t>> counts =
      CountWork(*host, kEvents, work_while_another_comes, 1'000);
  ASSERT_FALSE(counts.has_value()) << (*counts)[0];
  EXPECT_EQ(counts.error().reason, "COUNTERS_LOST") << ReasonOf(counts.error());
  const Result<std::vector<int64_t>> again = CountWork(*host, kEvents, Spin, 1'000);
  ASSERT_TRUE(again.has_value()) << ReasonOf(again.error());
  EXPECT_EQ((*again)[0], kInstructionsPerTurn * 1'000);
}

TEST(WithoutPapi, EachThreadCountsItsOwnWorkExactly) {
  ExpectEachThreadCountsItsOwnWork(*MakeHostBackend(kWorkers));
}

}  // namespace
}  // namespace tinyprof
