// What PAPI finds when it starts: each case in a process of its own, since PAPI looks once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "daemon/counters/counter_plan.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/simulated_pmu.h"
#include "daemon/counters/try_group.h"
#include "tests/pmu/plan_at_leisure.h"
#include "tests/pmu/stand_in_script.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// No hardware event can be had: the backend says `reason`, and so does each metric.
void ExpectUnusable(const StandInScript& script, const std::string& reason) {
  script.Apply();
  const auto backend = MakePapiBackend(1);
  EXPECT_EQ(backend->info().name, "simulated");
  EXPECT_THAT(backend->info().unusable_reason, StartsWith(reason));
  const CounterPlan plan = PlanAtLeisure(*backend);
  EXPECT_THAT(plan.unusable_reason, StartsWith(reason));
  for (const PlannedMetric& metric : plan.metrics) {
    EXPECT_FALSE(metric.usable());
    EXPECT_FALSE(metric.measured.has_value());
    EXPECT_THAT(metric.reason, StartsWith(reason));
  }
  const Status opened = TryGroup(*backend, std::vector<std::string>{ForcedCpu().cycles.name});
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(opened.error().reason, Not(IsEmpty()));
}

void Paranoid3() {
  ExpectUnusable(StandInScript(ForcedCpu()).Line("paranoid 3"), "PAPI_DISABLED: ");
  EXPECT_THAT(MakePapiBackend(1)->info().unusable_reason, HasSubstr("paranoid=3"));
}
void NoParanoidFile() {
  ExpectUnusable(StandInScript(ForcedCpu()).Line("paranoid absent"), "PAPI_DISABLED: ");
}
void BrokenTable() { ExpectUnusable(StandInScript(ForcedCpu()), "PAPI_DISABLED: "); }
void WellAndSimulated() {
  StandInScript(ForcedCpu()).Apply();
  EXPECT_EQ(MakePapiBackend(1)->info().name, "simulated");
  EXPECT_EQ(MakePapiBackend(1)->info().unusable_reason, "");
}
void EmptyMachine() { ExpectUnusable(StandInScript(), "NO_PMU: "); }

// A PMU that counts cycles and no instructions is one: what it counts is had.
void CyclesAlone() {
  const Cpu& cpu = ForcedCpu();
  StandInScript()
      .Line("counters 4")
      .Line("event hardware 0 cost 0 signal cycles")
      .Event(cpu.cycles, "signal cycles")
      .Apply();
  const auto backend = MakePapiBackend(1);
  EXPECT_EQ(backend->info().unusable_reason, "");
  const CounterPlan plan = PlanAtLeisure(*backend);
  EXPECT_EQ(plan.unusable_reason, "");
  EXPECT_TRUE(plan.metric(Metric::kCycles).usable()) << plan.metric(Metric::kCycles).reason;
  for (const PlannedMetric& metric : plan.metrics) {
    EXPECT_THAT(metric.reason, Not(StartsWith("NO_PMU")));
  }
  EXPECT_THAT(plan.metric(Metric::kInstructions).reason, StartsWith("EVENT_NOT_ON_CPU: "));
}

// PAPI gives a code to every preset, also to those of which it knows no events on this CPU.
void PresetsThatPapiHasNot() {
  StandInScript().Line("counters 4").Line("event any * cost 0 signal instructions").Apply();
  const auto backend = MakePapiBackend(1);
  EXPECT_EQ(backend->info().pmu, "icl");
  EXPECT_THAT(PlanAtLeisure(*backend).metric(Metric::kL2Misses).reason,
              StartsWith("EVENT_UNKNOWN: PAPI 7.0.0.0 knows no preset PAPI_L2_DCM for icl"));
}

// The plain instructions event that both PAPI and tinyprof try first.
void Refused(const char* errno_name, const std::string& reason) {
  ExpectUnusable(StandInScript().Line(std::string("event any * refuse ") + errno_name), reason);
}

TEST(StartTest, ParanoidLevelSwitchesPapiOff) { EXPECT_TRUE(PassesInChild("NONE", "", Paranoid3)); }

TEST(StartTest, KernelWithoutPerfEvents) { EXPECT_TRUE(PassesInChild("NONE", "", NoParanoidFile)); }

TEST(StartTest, PresetFileThatIsNotThere) {
  EXPECT_TRUE(PassesInChild("PAPI_CSV_EVENT_FILE", "/nonexistent/events.csv", BrokenTable));
}

TEST(StartTest, VirtualMachineWithoutPmu) { EXPECT_TRUE(PassesInChild("NONE", "", EmptyMachine)); }

TEST(StartTest, PmuWithoutInstructions) { EXPECT_TRUE(PassesInChild("NONE", "", CyclesAlone)); }

TEST(StartTest, PresetThatPapiHasNot) {
  EXPECT_TRUE(PassesInChild("LIBPFM_FORCE_PMU", "icl", PresetsThatPapiHasNot));
}

TEST(StartTest, ProbeThatIsRefused) {
  EXPECT_TRUE(PassesInChild("NONE", "", [] { Refused("ENOENT", "NO_PMU: "); }));
  EXPECT_TRUE(PassesInChild("NONE", "", [] { Refused("ENODEV", "NO_PMU: "); }));
  EXPECT_TRUE(PassesInChild("NONE", "", [] { Refused("ENXIO", "NO_PMU: "); }));
  EXPECT_TRUE(PassesInChild("NONE", "", [] { Refused("EOPNOTSUPP", "NO_PMU: "); }));
  EXPECT_TRUE(PassesInChild("NONE", "", [] { Refused("EACCES", "PERMISSION: "); }));
  EXPECT_TRUE(PassesInChild("NONE", "", [] { Refused("ENOSYS", "NO_PERF_EVENTS: "); }));
  EXPECT_TRUE(PassesInChild("NONE", "", [] { Refused("EBUSY", "COUNTER_BUSY: "); }));
  EXPECT_TRUE(PassesInChild("NONE", "", [] { Refused("EMFILE", "TOO_MANY_FILES: "); }));
}

TEST(StartTest, NoEnvironmentHidesThatCountsAreSimulated) {
  for (const char* variable :
       {"LD_PRELOAD", "TINYPROF_STAND_IN_RULES", "TINYPROF_STAND_IN_FILE", "PAPI_CSV_EVENT_FILE"}) {
    EXPECT_TRUE(PassesInChild(variable, nullptr, WellAndSimulated)) << variable;
  }
  EXPECT_TRUE(PassesInChild("TINYPROF_COUNTER_BACKEND", "papi", WellAndSimulated));
  EXPECT_TRUE(PassesInChild("NONE", "", [] {
    clearenv();
    EXPECT_TRUE(PmuIsSimulated());
    EXPECT_EQ(MakePapiBackend(1)->info().name, "simulated");
  }));
}

}  // namespace
}  // namespace tinyprof
