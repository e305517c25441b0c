#include "daemon/counters/counter_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_backend.h"

namespace tinyprof {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A Zen 4 whose events count the known work, with the factors that a test sets.
class FakeCpu {
 public:
  FakeCpu() {
    backend.info_.pmu = "amd64_fam19h_zen4";
    backend.events = {kCycles, kInstructions, kFlops, kL1, kL2};
    work.arithmetic = [this](int64_t n) {
      backend.Happen(0, kCycles, n);
      backend.Happen(0, kInstructions, 3 * n + stray_instructions);
      backend.Happen(0, kFlops, static_cast<int64_t>(flops_per_iteration * static_cast<double>(n)));
    };
    work.cold_lines = [this](int64_t n) {
      backend.Happen(0, kL1, n * l1_factor);
      backend.Happen(0, kL2, n);
    };
  }

  static constexpr const char* kCycles = "CYCLES_NOT_IN_HALT";
  static constexpr const char* kInstructions = "RETIRED_INSTRUCTIONS";
  static constexpr const char* kFlops = "RETIRED_SSE_AVX_FLOPS:ANY";
  static constexpr const char* kL1 =
      "REQUESTS_TO_L2_GROUP1:RD_BLK_L:RD_BLK_X:LS_RD_BLK_C_S:CHANGE_TO_X";
  static constexpr const char* kL2 = "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C";

  FakeBackend backend;
  KnownWork work;
  double flops_per_iteration = 4;
  int64_t stray_instructions = 0;  // of each dose of work, whatever its size
  int64_t l1_factor = 1;
};

TEST(PlanCounters, ChoosesEventsThatCountKnownWorkAndSaysHowWell) {
  FakeCpu cpu;
  cpu.backend.read_cost = 175;   // cancels out
  cpu.stray_instructions = 900;  // cancels out
  const CounterPlan plan = PlanCounters(cpu.backend, cpu.work);
  EXPECT_THAT(plan.unusable_reason, IsEmpty());
  EXPECT_THAT(plan.groups, ElementsAre(ElementsAre(FakeCpu::kCycles, FakeCpu::kInstructions,
                                                   FakeCpu::kFlops, FakeCpu::kL1, FakeCpu::kL2)));
  EXPECT_EQ(plan.metric(Metric::kInstructions).quality, Quality::kExact);
  EXPECT_EQ(plan.metric(Metric::kFlops).quality, Quality::kExact);
  EXPECT_EQ(plan.metric(Metric::kFlops).expected, plan.metric(Metric::kFlops).measured);
  EXPECT_EQ(plan.metric(Metric::kCycles).quality, Quality::kGood);
  EXPECT_EQ(plan.metric(Metric::kL1dMisses).quality, Quality::kGood);
  EXPECT_EQ(plan.instructions_anchor, std::vector<std::optional<size_t>>{1});
  EXPECT_FALSE(plan.metric(Metric::kL3Misses).usable());
  EXPECT_THAT(plan.metric(Metric::kL3Misses).reason, StartsWith("NOT_PER_THREAD: "));
  EXPECT_THAT(plan.metric(Metric::kDramBytes).reason, StartsWith("EVENT_NOT_ON_CPU: "));
}

TEST(PlanCounters, SplitsWhatDoesNotFitAndAnchorsEveryGroup) {
  FakeCpu cpu;
  cpu.backend.counters_per_group = 4;
  cpu.backend.counters_of[FakeCpu::kFlops] = 2;
  const CounterPlan plan = PlanCounters(cpu.backend, cpu.work);
  EXPECT_THAT(plan.groups,
              ElementsAre(ElementsAre(FakeCpu::kCycles, FakeCpu::kInstructions, FakeCpu::kFlops),
                          ElementsAre(FakeCpu::kCycles, FakeCpu::kInstructions, FakeCpu::kL1,
                                      FakeCpu::kL2)));
  EXPECT_THAT(plan.metric(Metric::kL2Misses).positions, ElementsAre(EventPosition{1, 3}));
  EXPECT_THAT(plan.metric(Metric::kCycles).positions, ElementsAre(EventPosition{0, 0}));
}

TEST(PlanCounters, LeavesTheAnchorsOutWhereThereIsNoRoomForThem) {
  FakeCpu cpu;
  cpu.backend.counters_per_group = 2;
  cpu.backend.counters_of[FakeCpu::kFlops] = 2;
  const CounterPlan plan = PlanCounters(cpu.backend, cpu.work);
  EXPECT_THAT(plan.groups, Contains(ElementsAre(FakeCpu::kFlops)));
  EXPECT_EQ(plan.instructions_anchor[plan.metric(Metric::kFlops).positions[0].group], std::nullopt);
}

TEST(PlanCounters, AnEventThatNeverMovesIsNotUsed) {
  FakeCpu cpu;
  cpu.l1_factor = 0;
  const CounterPlan plan = PlanCounters(cpu.backend, cpu.work);
  EXPECT_FALSE(plan.metric(Metric::kL1dMisses).usable());
  EXPECT_THAT(plan.metric(Metric::kL1dMisses).reason, StartsWith("NEVER_MOVES: "));
  EXPECT_TRUE(plan.metric(Metric::kL2Misses).usable());
}

TEST(PlanCounters, HalfTheFlopsIsSuspectAndSaysSo) {
  FakeCpu cpu;
  cpu.flops_per_iteration = 2;
  const CounterPlan plan = PlanCounters(cpu.backend, cpu.work);
  const PlannedMetric& flops = plan.metric(Metric::kFlops);
  EXPECT_EQ(flops.quality, Quality::kSuspect);
  EXPECT_THAT(flops.reason, StartsWith("IMPLAUSIBLE: "));
  EXPECT_EQ(*flops.measured, *flops.expected / 2);
}

TEST(PlanCounters, TakesTheNextFormulaWhereTheFirstIsRefused) {
  FakeCpu cpu;
  cpu.backend.events.erase(FakeCpu::kInstructions);
  cpu.backend.events.insert("PAPI_TOT_INS");
  const auto arithmetic = cpu.work.arithmetic;
  cpu.work.arithmetic = [&](int64_t n) {
    arithmetic(n);
    cpu.backend.Happen(0, "PAPI_TOT_INS", 3 * n);
  };
  const CounterPlan plan = PlanCounters(cpu.backend, cpu.work);
  EXPECT_EQ(plan.metric(Metric::kInstructions).formula->ToString(), "PAPI_TOT_INS");
}

TEST(PlanCounters, KeepsTheReasonOfTheFirstFormulaWhereNoneWorks) {
  FakeCpu cpu;
  cpu.backend.events.erase(FakeCpu::kFlops);
  const CounterPlan plan = PlanCounters(cpu.backend, cpu.work);
  EXPECT_EQ(plan.metric(Metric::kFlops).reason,
            std::string("EVENT_NOT_ON_CPU: no ") + FakeCpu::kFlops);
}

TEST(PlanCounters, WithoutAPmuEveryMetricIsAbsentForThatReason) {
  FakeCpu cpu;
  cpu.backend.info_.unusable_reason = "NO_PMU: none";
  const CounterPlan plan = PlanCounters(cpu.backend, cpu.work);
  EXPECT_EQ(plan.unusable_reason, "NO_PMU: none");
  EXPECT_THAT(plan.groups, IsEmpty());
  for (const Metric metric : kMetrics) {
    EXPECT_FALSE(plan.metric(metric).usable());
    EXPECT_EQ(plan.metric(metric).reason, "NO_PMU: none");
  }
  EXPECT_EQ(cpu.backend.groups_opened, 0);
}

TEST(PlanCounters, ACountThatRunsBackwardsIsNotUsed) {
  FakeCpu cpu;
  // The third read of the first metric, FLOPs, sees the counter at 0 again.
  cpu.backend.resetting_reads = {2};
  const CounterPlan plan = PlanCounters(cpu.backend, cpu.work);
  EXPECT_THAT(plan.metric(Metric::kFlops).reason, HasSubstr("ran backwards"));
}

TEST(JudgeCount, BoundsOfEachKind) {
  const KnownWork work;  // 3 instructions and 4 FLOPs an iteration
  EXPECT_EQ(JudgeCount(Metric::kInstructions, work, 1000, 3000).quality, Quality::kExact);
  EXPECT_EQ(JudgeCount(Metric::kInstructions, work, 1000, 3030).quality, Quality::kGood);
  EXPECT_EQ(JudgeCount(Metric::kInstructions, work, 1000, 3031).quality, Quality::kSuspect);
  EXPECT_EQ(JudgeCount(Metric::kInstructions, work, 1000, 0).quality, std::nullopt);
  EXPECT_EQ(JudgeCount(Metric::kCycles, work, 1000, 187).quality, std::nullopt);
  EXPECT_EQ(JudgeCount(Metric::kCycles, work, 1000, 188).quality, Quality::kGood);
  EXPECT_EQ(JudgeCount(Metric::kCycles, work, 1000, 300'001).quality, std::nullopt);
  EXPECT_EQ(JudgeCount(Metric::kL2Misses, work, 1000, 2000).quality, Quality::kGood);
  EXPECT_EQ(JudgeCount(Metric::kL2Misses, work, 1000, 2001).quality, Quality::kSuspect);
  EXPECT_EQ(JudgeCount(Metric::kL2Misses, work, 1000, 499).quality, Quality::kSuspect);
  EXPECT_EQ(JudgeCount(Metric::kL3Misses, work, 1000, 0).quality, std::nullopt);
  EXPECT_EQ(JudgeCount(Metric::kDramBytes, work, 1000, 128'000).quality, Quality::kGood);
  EXPECT_EQ(JudgeCount(Metric::kDramBytes, work, 1000, 128'000).expected, 64'000);
  EXPECT_EQ(JudgeCount(Metric::kDramBytes, work, 1000, 1000).quality, Quality::kSuspect);
  EXPECT_EQ(JudgeCount(Metric::kFlopsSingle, work, 1000, 4000).quality, Quality::kExact);
  EXPECT_EQ(JudgeCount(Metric::kBranchMisses, work, 1000, 5).quality, Quality::kSuspect);
}

}  // namespace
}  // namespace tinyprof
