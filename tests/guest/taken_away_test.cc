// Another user of the PMU: pinned events of a whole CPU come before those of a thread. Runs as
// root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/counter_plan.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/try_group.h"
#include "tests/guest/other_profiler.h"
#include "tests/guest/spin.h"

namespace tinyprof {
namespace {

using ::testing::StartsWith;

TEST(TakenAway, AnEventIsRefusedWhileAnotherHoldsTheCounters) {
  const auto papi = MakePapiBackend(1);
  const std::vector<std::string> events = {"INST_RETIRED"};
  {
    const OtherProfiler other;
    const Status refused = TryGroup(*papi, events);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().reason, "COUNTER_BUSY") << ReasonOf(refused.error());
  }
  EXPECT_TRUE(TryGroup(*papi, events).has_value());
}

TEST(TakenAway, APlanSaysThatTheCountersAreTaken) {
  const auto papi = MakePapiBackend(1);
  const OtherProfiler other;
  const CounterPlan plan = PlanCounters(*papi, HostKnownWork());
  const PlannedMetric& instructions = plan.metric(Metric::kInstructions);
  EXPECT_FALSE(instructions.usable());
  EXPECT_THAT(instructions.reason, StartsWith("COUNTER_BUSY: "));
}

TEST(TakenAway, AGroupThatLosesItsCountersIsLostAndReadsNoStaleValue) {
  const auto papi = MakePapiBackend(1);
  const std::vector<std::string> events = {"INST_RETIRED", "CPU_CYCLES"};
  const auto work_while_another_comes = [](int64_t turns) {
    const OtherProfiler other;
    Spin(turns);
  };
  const Result<std::vector<int64_t>> counts =
      CountWork(*papi, events, work_while_another_comes, 1'000);
  ASSERT_FALSE(counts.has_value()) << (*counts)[0];
  EXPECT_EQ(counts.error().reason, "COUNTERS_LOST") << ReasonOf(counts.error());
  // The thread can count again afterwards.
  const Result<std::vector<int64_t>> again = CountWork(*papi, events, Spin, 1'000);
  ASSERT_TRUE(again.has_value()) << ReasonOf(again.error());
  EXPECT_EQ((*again)[0], kInstructionsPerTurn * 1'000);
}

}  // namespace
}  // namespace tinyprof
