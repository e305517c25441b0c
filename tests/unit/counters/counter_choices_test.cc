#include "daemon/counters/counter_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "fake_zen4.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

CounterMetricReport& MetricOf(CounterReport& report, Metric metric) {
  return *std::find_if(report.metrics.begin(), report.metrics.end(),
                       [&](const auto& entry) { return entry.metric == Name(metric); });
}

// A Zen 4 that was calibrated: all but its FLOPs, of which it counts half, as they should be.
class KnownCountersTest : public ::testing::Test {
 protected:
  KnownCountersTest() {
    GiveZen4Events(cpu_, 0.5);
    cpu_.backend.counters_per_group = 4;
    cpu_.backend.counters_of[kFlops] = 2;
    cpu_.work.fresh_pages = [](int64_t) {};
    known_ = ReportCounters(cpu_.backend, cpu_.work);
    cpu_.on_run = [this](const LoopFacts&) { ++loops_run_; };
  }
  std::optional<CounterPlan> Plan() { return PlanKnownCounters(cpu_.backend, known_); }

  FakeCpu cpu_{"amd64_fam19h_zen4"};
  CounterReport known_;
  int loops_run_ = 0;
};

TEST_F(KnownCountersTest, ThePlanIsTheCalibratedOneWithoutALoop) {
  const std::optional<CounterPlan> plan = Plan();
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(loops_run_, 0);
  EXPECT_THAT(plan->groups, ElementsAre(ElementsAre(kCycles, kInstructions, kFlops),
                                        ElementsAre(kCycles, kInstructions, kL1)));
  EXPECT_THAT(plan->instructions_anchor, ElementsAre(1, 1));
  EXPECT_THAT(plan->unusable_reason, IsEmpty());
  EXPECT_EQ(plan->trust.rows.size(), known_.trust.rows.size());
  EXPECT_EQ(plan->trust.elapsed_ns, known_.trust.elapsed_ns);

  const CounterPlan calibrated = PlanCounters(cpu_.backend, cpu_.work);
  EXPECT_GT(loops_run_, 0);
  EXPECT_EQ(plan->groups, calibrated.groups);
  EXPECT_EQ(plan->instructions_anchor, calibrated.instructions_anchor);
  for (const Metric metric : kMetrics) {
    SCOPED_TRACE(Name(metric));
    const PlannedMetric& planned = plan->metric(metric);
    const PlannedMetric& wanted = calibrated.metric(metric);
    ASSERT_EQ(planned.usable(), wanted.usable());
    EXPECT_EQ(planned.positions, wanted.positions);
    EXPECT_EQ(planned.quality, wanted.quality);
    EXPECT_EQ(planned.expected, wanted.expected);
    EXPECT_EQ(planned.measured, wanted.measured);
    EXPECT_EQ(planned.reason, wanted.reason);
    if (wanted.usable()) {
      EXPECT_EQ(planned.formula->Describe(), wanted.formula->Describe());
    }
  }
}

TEST_F(KnownCountersTest, WhatWasSuspectOrAbsentKeepsItsReason) {
  MetricOf(known_, Metric::kL2Misses).reason = "COUNTER_BUSY: as it was then";
  const std::optional<CounterPlan> plan = Plan();
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->metric(Metric::kFlops).quality, Quality::kSuspect);
  EXPECT_THAT(plan->metric(Metric::kFlops).reason, StartsWith("IMPLAUSIBLE: "));
  EXPECT_THAT(plan->metric(Metric::kL3Misses).reason, StartsWith("NOT_PER_THREAD: "));
  EXPECT_EQ(plan->metric(Metric::kL2Misses).reason, "COUNTER_BUSY: as it was then");
}

TEST_F(KnownCountersTest, WhatIsRefusedNowIsAbsentForTheReasonOfNow) {
  cpu_.backend.refusals[kL1] = {ErrorCode::kFailedPrecondition, "PARANOID", "the level is 3", {}};
  std::optional<CounterPlan> plan = Plan();
  ASSERT_TRUE(plan.has_value());
  EXPECT_FALSE(plan->metric(Metric::kL1dMisses).usable());
  EXPECT_FALSE(plan->metric(Metric::kL1dMisses).quality.has_value());
  EXPECT_EQ(plan->metric(Metric::kL1dMisses).reason, "PARANOID: the level is 3");
  EXPECT_TRUE(plan->metric(Metric::kFlops).usable());
  for (const char* event : {kCycles, kInstructions, kFlops}) {
    cpu_.backend.refusals[event] = cpu_.backend.refusals[kL1];
  }
  plan = Plan();
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->unusable_reason, "PARANOID: the level is 3");
  EXPECT_THAT(plan->groups, IsEmpty());
}

TEST_F(KnownCountersTest, WhatDoesNotFitIsNoPlan) {
  const CounterReport fits = known_;
  const auto expect_none = [&](const char* why, const std::function<void()>& change) {
    known_ = fits;
    ASSERT_TRUE(Plan().has_value());
    change();
    EXPECT_FALSE(Plan().has_value()) << why;
  };
  expect_none("another backend", [&] { known_.backend = "perf_event"; });
  expect_none("another PMU", [&] { known_.pmu = "amd64_fam19h_zen3"; });
  expect_none("not usable then", [&] { known_.usable = false; });
  expect_none("no such formula",
              [&] { MetricOf(known_, Metric::kFlops).formula = "2*RETIRED_SSE_AVX_FLOPS:ANY"; });
  expect_none("another metric's formula",
              [&] { MetricOf(known_, Metric::kFlops).formula = kCycles; });
  expect_none("usable without quality", [&] { MetricOf(known_, Metric::kFlops).quality.reset(); });
  expect_none("absent without a reason",
              [&] { MetricOf(known_, Metric::kL3Misses).reason.clear(); });
  expect_none("a metric is missing", [&] { MetricOf(known_, Metric::kFlops).metric = "bananas"; });
  expect_none("not usable now", [&] { cpu_.backend.info_.unusable_reason = "NO_PMU: none"; });
  EXPECT_EQ(loops_run_, 0);
}

// Presets come before the kernel's events where the CPU is of no family of the catalogue.
class ReasonTest : public ::testing::Test {
 protected:
  void Refuse(const std::string& event, const std::string& reason) {
    cpu_.backend.refusals[event] = {ErrorCode::kFailedPrecondition, reason, "of " + event, {}};
  }
  std::string ReasonOfL1() {
    return PlanCounters(cpu_.backend, cpu_.work).metric(Metric::kL1dMisses).reason;
  }

  static constexpr const char* kPreset = "PAPI_L1_DCM";
  static constexpr const char* kKernel = "perf::L1-DCACHE-LOAD-MISSES";
  FakeCpu cpu_{"nhm"};
};

TEST_F(ReasonTest, APresetThatPapiHasNotIsNoCause) {
  Refuse(kPreset, "EVENT_UNKNOWN");
  for (const char* reason : {"EVENT_NOT_ON_CPU", "PERMISSION", "COUNTER_BUSY", "GROUP_FULL"}) {
    Refuse(kKernel, reason);
    EXPECT_EQ(ReasonOfL1(), std::string(reason) + ": of " + kKernel);
  }
  cpu_.backend.refusals.erase(kKernel);
  cpu_.Has(kKernel, [](const LoopFacts&) { return 0; });
  EXPECT_THAT(ReasonOfL1(), StartsWith("NEVER_MOVES: "));
}

TEST_F(ReasonTest, WhatCanBeMendedIsSaidBeforeWhatCannot) {
  cpu_.Has(kPreset, [](const LoopFacts&) { return 0; });
  Refuse(kKernel, "PARANOID");
  EXPECT_THAT(ReasonOfL1(), StartsWith("PARANOID: "));
  Refuse(kKernel, "EVENT_NOT_ON_CPU");
  EXPECT_THAT(ReasonOfL1(), StartsWith("NEVER_MOVES: "));
}

TEST_F(ReasonTest, OfReasonsThatHelpAsMuchTheFirstIsSaid) {
  Refuse(kPreset, "COUNTER_BUSY");
  Refuse(kKernel, "PERMISSION");
  EXPECT_EQ(ReasonOfL1(), std::string("COUNTER_BUSY: of ") + kPreset);
}

TEST_F(ReasonTest, APlanWithoutAnyMetricSaysTheMoreHelpfulOfItsAnchorsReasons) {
  for (const char* event : {"PAPI_TOT_INS", "perf::INSTRUCTIONS"}) {
    Refuse(event, "EVENT_NOT_ON_CPU");
  }
  Refuse("perf::CYCLES", "COUNTER_BUSY");
  EXPECT_EQ(PlanCounters(cpu_.backend, cpu_.work).unusable_reason, "COUNTER_BUSY: of perf::CYCLES");
}

TEST_F(ReasonTest, CyclesAloneMakeAPlan) {
  cpu_.Has("perf::CYCLES", [](const LoopFacts& facts) { return facts.instructions * 2; });
  const CounterPlan plan = PlanCounters(cpu_.backend, cpu_.work);
  EXPECT_THAT(plan.unusable_reason, IsEmpty());
  EXPECT_THAT(plan.groups, ElementsAre(ElementsAre("perf::CYCLES")));
  EXPECT_THAT(plan.instructions_anchor, ElementsAre(std::nullopt));
  EXPECT_THAT(plan.metric(Metric::kInstructions).reason, StartsWith("EVENT_NOT_ON_CPU: "));
}

}  // namespace
}  // namespace tinyprof
