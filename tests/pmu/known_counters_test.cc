// The plan of a report that was made before, through PAPI: the same as the calibrated one, and
// honest when the machine has changed since.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/counters/counter_plan.h"
#include "daemon/counters/counter_report.h"
#include "daemon/counters/declared_known_work.h"
#include "daemon/counters/known_work.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/try_group.h"
#include "tests/pmu/stand_in_script.h"

namespace tinyprof {
namespace {

using ::testing::StartsWith;

// However slow the machine is, no calibration runs out of time.
const CalibrationOptions kTimeStandsStill = {.now_ns = [] { return int64_t{0}; }};

// The host's loops, which only say what they would do.
KnownWork DeclaredLoops() {
  KnownWork work = HostKnownWork();
  for (KnownLoop& loop : work.loops) {
    loop.run = [](int64_t) {};
    loop.prepare = nullptr;
  }
  return Declaring(std::move(work));
}

class KnownCountersTest : public ::testing::Test {
 protected:
  KnownCountersTest() {
    StandInScript(cpu_).Apply();
    backend_ = MakePapiBackend(1);
    known_ = ReportCounters(*backend_, DeclaredLoops(), kTimeStandsStill);
  }

  const Cpu& cpu_ = ForcedCpu();
  std::unique_ptr<CounterBackend> backend_;
  CounterReport known_;
};

TEST_F(KnownCountersTest, ThePlanIsTheCalibratedOne) {
  const std::optional<CounterPlan> known = PlanKnownCounters(*backend_, known_);
  ASSERT_TRUE(known.has_value());
  const CounterPlan calibrated = PlanCounters(*backend_, DeclaredLoops(), kTimeStandsStill);
  EXPECT_EQ(known->groups, calibrated.groups);
  EXPECT_EQ(known->instructions_anchor, calibrated.instructions_anchor);
  EXPECT_EQ(known->unusable_reason, "");
  for (const Metric metric : kMetrics) {
    SCOPED_TRACE(Name(metric));
    const PlannedMetric& planned = known->metric(metric);
    const PlannedMetric& wanted = calibrated.metric(metric);
    ASSERT_EQ(planned.usable(), wanted.usable()) << planned.reason << wanted.reason;
    EXPECT_EQ(planned.positions, wanted.positions);
    EXPECT_EQ(planned.quality, wanted.quality);
    EXPECT_EQ(planned.expected, wanted.expected);
    EXPECT_EQ(planned.measured, wanted.measured);
    EXPECT_EQ(planned.reason, wanted.reason);
    if (planned.usable()) {
      EXPECT_EQ(planned.formula->Describe(), wanted.formula->Describe());
    }
  }
  EXPECT_TRUE(known->metric(Metric::kFlops).usable());
}

TEST_F(KnownCountersTest, NothingIsCountedAnew) {
  // Events that count nothing are found out by calibrating, and by nothing else.
  StandInScript silent(cpu_);
  for (const CpuEvent& event : cpu_.events()) {
    silent.Event(event, "");
  }
  silent.Apply();
  known_.trust.elapsed_ns = 1234;
  const std::optional<CounterPlan> plan = PlanKnownCounters(*backend_, known_);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->metric(Metric::kInstructions).quality, Quality::kExact);
  EXPECT_EQ(plan->metric(Metric::kFlops).quality, Quality::kExact);
  EXPECT_EQ(plan->trust.elapsed_ns, 1234);
  EXPECT_EQ(plan->trust.rows.size(), known_.trust.rows.size());
  EXPECT_FALSE(
      PlanCounters(*backend_, DeclaredLoops(), kTimeStandsStill).metric(Metric::kFlops).usable());
}

TEST_F(KnownCountersTest, WhatTheKernelRefusesNowIsAbsentForThat) {
  StandInScript(cpu_).Event(cpu_.l1d_misses, "refuse EACCES").Apply();
  const std::optional<CounterPlan> plan = PlanKnownCounters(*backend_, known_);
  ASSERT_TRUE(plan.has_value());
  EXPECT_FALSE(plan->metric(Metric::kL1dMisses).usable());
  EXPECT_THAT(plan->metric(Metric::kL1dMisses).reason, StartsWith("PERMISSION: "));
  EXPECT_EQ(plan->metric(Metric::kFlops).quality, Quality::kExact);

  StandInScript(cpu_).Line("fail open 1+ EACCES").Apply();
  const std::optional<CounterPlan> none = PlanKnownCounters(*backend_, known_);
  ASSERT_TRUE(none.has_value());
  EXPECT_THAT(none->unusable_reason, StartsWith("PERMISSION: "));
}

TEST_F(KnownCountersTest, CountersHeldByOthersNowLeaveWhatStillFits) {
  StandInScript(cpu_).Line("held 1").Apply();
  const std::optional<CounterPlan> plan = PlanKnownCounters(*backend_, known_);
  ASSERT_TRUE(plan.has_value());
  EXPECT_TRUE(plan->metric(Metric::kInstructions).usable());
  for (const std::vector<std::string>& group : plan->groups) {
    EXPECT_TRUE(TryGroup(*backend_, group).has_value());
  }
}

}  // namespace
}  // namespace tinyprof
