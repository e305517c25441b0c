#include "daemon/counters/counter_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_zen4.h"

namespace tinyprof {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kL2 = "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C";

class Zen4Test : public ::testing::Test {
 protected:
  Zen4Test() {
    GiveZen4Events(cpu, 1);
    cpu.Has(kL2, [](const LoopFacts& facts) {
      return facts.set > WorkingSet::kL2 && !facts.in_order ? 1 : 0;
    });
  }
  CounterPlan Plan() { return PlanCounters(cpu.backend, cpu.work); }

  FakeCpu cpu{"amd64_fam19h_zen4"};
};

TEST_F(Zen4Test, EventsThatCountKnownLoopsAreChosenAndGraded) {
  cpu.backend.read_cost = 175;  // cancels out
  cpu.stray_counts = 900;       // cancels out
  const CounterPlan plan = Plan();
  EXPECT_THAT(plan.unusable_reason, IsEmpty());
  EXPECT_THAT(plan.groups, ElementsAre(ElementsAre(kCycles, kInstructions, kFlops, kL1, kL2)));
  EXPECT_EQ(plan.metric(Metric::kInstructions).quality, Quality::kExact);
  EXPECT_EQ(plan.metric(Metric::kFlops).quality, Quality::kExact);
  EXPECT_EQ(plan.metric(Metric::kFlops).expected, 8 * FakeCpu::kIterations);
  EXPECT_EQ(plan.metric(Metric::kFlops).measured, 8 * FakeCpu::kIterations);
  EXPECT_EQ(plan.metric(Metric::kFlops).note,
            "an FMA counts as two operations; lanes that are masked off do not count; minima and "
            "maxima do not count");
  EXPECT_EQ(plan.metric(Metric::kCycles).quality, Quality::kGood);
  EXPECT_EQ(plan.metric(Metric::kL1dMisses).quality, Quality::kGood);
  EXPECT_EQ(plan.metric(Metric::kL1dMisses).note, "lines that prefetchers bring in count");
  EXPECT_EQ(plan.metric(Metric::kL2Misses).note, "lines that prefetchers bring in are left out");
  EXPECT_EQ(plan.instructions_anchor, std::vector<std::optional<size_t>>{1});
  EXPECT_FALSE(plan.metric(Metric::kL3Misses).usable());
  EXPECT_THAT(plan.metric(Metric::kL3Misses).reason, StartsWith("NOT_PER_THREAD: "));
}

TEST_F(Zen4Test, TheTrustTableHasARowForEveryLoopThatConcernsAMetric) {
  const CounterPlan plan = Plan();
  EXPECT_TRUE(plan.trust.complete);
  int64_t flop_rows = 0;
  for (const TrustRow& row : plan.trust.rows) {
    ASSERT_TRUE(row.measured.has_value()) << row.loop;
    flop_rows += row.metric == "flops" ? 1 : 0;
    if (row.metric == "flops" && row.loop == "avx2_fma_float32") {
      EXPECT_EQ(row.formula, kFlops);
      EXPECT_EQ(row.iterations, 1000);
      // 8 instructions of 8 lanes, two operations each.
      EXPECT_EQ(row.expected, (Expectation{128'000, 128'000, 128'000}));
      EXPECT_EQ(row.measured, 128'000);
      EXPECT_EQ(row.spread, 0);
      EXPECT_EQ(row.quality, Quality::kExact);
    }
  }
  EXPECT_EQ(flop_rows, 11);  // ten of arithmetic, and loads, which must count none
}

TEST_F(Zen4Test, WhatDoesNotFitIsSplitAndEveryGroupAnchored) {
  cpu.backend.counters_per_group = 4;
  cpu.backend.counters_of[kFlops] = 2;
  const CounterPlan plan = Plan();
  EXPECT_THAT(plan.groups, ElementsAre(ElementsAre(kCycles, kInstructions, kFlops),
                                       ElementsAre(kCycles, kInstructions, kL1, kL2)));
  EXPECT_THAT(plan.metric(Metric::kL2Misses).positions, ElementsAre(EventPosition{1, 3}));
  EXPECT_THAT(plan.metric(Metric::kCycles).positions, ElementsAre(EventPosition{0, 0}));
}

TEST_F(Zen4Test, AnchorsAreLeftOutWhereThereIsNoRoomForThem) {
  cpu.backend.counters_per_group = 2;
  cpu.backend.counters_of[kFlops] = 2;
  const CounterPlan plan = Plan();
  EXPECT_THAT(plan.groups, Contains(ElementsAre(kFlops)));
  EXPECT_EQ(plan.instructions_anchor[plan.metric(Metric::kFlops).positions[0].group], std::nullopt);
}

TEST_F(Zen4Test, AnEventThatNeverMovesIsNotUsed) {
  cpu.Has(kL1, [](const LoopFacts&) { return 0; });
  const CounterPlan plan = Plan();
  EXPECT_FALSE(plan.metric(Metric::kL1dMisses).usable());
  EXPECT_THAT(plan.metric(Metric::kL1dMisses).reason, StartsWith("NEVER_MOVES: "));
  EXPECT_TRUE(plan.metric(Metric::kL2Misses).usable());
}

TEST_F(Zen4Test, HalfTheFlopsIsSuspectAndSaysSo) {
  cpu.Has(kFlops, [](const LoopFacts& facts) {
    return static_cast<double>(facts.FlopsPerIteration({true, false, false})) / 2;
  });
  const PlannedMetric flops = Plan().metric(Metric::kFlops);
  EXPECT_EQ(flops.quality, Quality::kSuspect);
  EXPECT_THAT(flops.reason, StartsWith("IMPLAUSIBLE: "));
  EXPECT_THAT(flops.reason, HasSubstr("0.5 times"));
}

TEST_F(Zen4Test, AFormulaThatIsRightIsTakenOverAnEarlierOneThatIsNot) {
  cpu.Has(kInstructions,
          [](const LoopFacts& facts) { return static_cast<double>(facts.instructions) / 2; });
  cpu.Has("PAPI_TOT_INS",
          [](const LoopFacts& facts) { return static_cast<double>(facts.instructions); });
  const CounterPlan plan = Plan();
  EXPECT_EQ(plan.metric(Metric::kInstructions).formula->ToString(), "PAPI_TOT_INS");
  EXPECT_EQ(plan.metric(Metric::kInstructions).quality, Quality::kExact);
  EXPECT_THAT(plan.metric(Metric::kInstructions).reason, IsEmpty());
}

TEST_F(Zen4Test, TheNextFormulaIsTakenWhereTheFirstIsRefused) {
  cpu.backend.events.erase(kInstructions);
  cpu.Has("PAPI_TOT_INS", [](const LoopFacts& facts) { return facts.instructions; });
  EXPECT_EQ(Plan().metric(Metric::kInstructions).formula->ToString(), "PAPI_TOT_INS");
}

TEST_F(Zen4Test, TheReasonOfTheFirstFormulaIsKeptWhereNoneWorks) {
  cpu.backend.events.erase(kFlops);
  EXPECT_EQ(Plan().metric(Metric::kFlops).reason, std::string("EVENT_NOT_ON_CPU: no ") + kFlops);
}

TEST_F(Zen4Test, WithoutAPmuEveryMetricIsAbsentForThatReason) {
  cpu.backend.info_.unusable_reason = "NO_PMU: none";
  const CounterPlan plan = Plan();
  EXPECT_EQ(plan.unusable_reason, "NO_PMU: none");
  EXPECT_THAT(plan.groups, IsEmpty());
  EXPECT_THAT(plan.trust.rows, IsEmpty());
  for (const Metric metric : kMetrics) {
    EXPECT_FALSE(plan.metric(metric).usable());
    EXPECT_EQ(plan.metric(metric).reason, "NO_PMU: none");
  }
  EXPECT_EQ(cpu.backend.groups_opened, 0);
}

TEST_F(Zen4Test, AnEventOfWhichNoLoopTellsIsNotTrusted) {
  cpu.work.loops.clear();
  const CounterPlan plan = Plan();
  EXPECT_FALSE(plan.metric(Metric::kFlops).usable());
  EXPECT_THAT(plan.metric(Metric::kFlops).reason, StartsWith("NOT_CALIBRATED: "));
}

TEST_F(Zen4Test, OneLoopWhoseCountsRanBackwardsDoesNotCostTheMetric) {
  // One read tries the event, four count the loop: the last of them sees the counter at 0 again.
  cpu.backend.resetting_reads = {4};
  const CounterPlan plan = Plan();
  EXPECT_EQ(plan.metric(Metric::kCycles).quality, Quality::kGood);
  const TrustRow& row = plan.trust.rows[0];
  EXPECT_EQ(row.loop, "scalar_add_float32");
  EXPECT_EQ(row.measured, std::nullopt);
  EXPECT_THAT(row.reason, HasSubstr("ran backwards"));
  EXPECT_EQ(plan.trust.rows[1].measured, 20 * FakeCpu::kIterations);
}

TEST_F(Zen4Test, WhenTimeRunsOutOneLoopOfEachMetricIsStillCounted) {
  int64_t now_ns = 0;
  cpu.on_run = [&](const LoopFacts&) { now_ns += 1'000'000; };
  const CounterPlan plan = PlanCounters(
      cpu.backend, cpu.work, {.budget_ns = 10'000'000, .now_ns = [&] { return now_ns; }});
  EXPECT_FALSE(plan.trust.complete);
  EXPECT_EQ(plan.metric(Metric::kInstructions).quality, Quality::kGood);
  bool late = false;
  for (const TrustRow& row : plan.trust.rows) {
    EXPECT_NE(row.measured.has_value(), row.reason.starts_with("NO_TIME: ")) << row.loop;
    late = late || !row.measured.has_value();
  }
  EXPECT_TRUE(late);
  // Twelve metrics, six doses of one loop each, beside what was within the budget.
  EXPECT_LE(now_ns, 10'000'000 + 12 * 6'000'000);
}

}  // namespace
}  // namespace tinyprof
