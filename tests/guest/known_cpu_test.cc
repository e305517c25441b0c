// On a Neoverse N1 whose PMU counts instructions and cycles, and nothing else: every other event
// opens, starts and reads 0 without any error.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/counters/counter_plan.h"
#include "daemon/counters/counter_report.h"
#include "daemon/counters/host_backend.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/try_group.h"
#include "tests/guest/spin.h"

namespace tinyprof {
namespace {

using ::testing::Each;
using ::testing::StartsWith;

class KnownCpu : public ::testing::Test {
 protected:
  std::vector<int64_t> Count(std::vector<std::string> events,
                             const std::function<void(int64_t)>& work, int64_t n) {
    const Result<std::vector<int64_t>> counts = CountWork(*papi_, events, work, n);
    EXPECT_TRUE(counts.has_value()) << counts.error().reason << ": " << counts.error().message;
    return counts.value_or(std::vector<int64_t>(events.size(), CounterBackend::kUntouched));
  }

  std::unique_ptr<CounterBackend> papi_ = MakePapiBackend(1);
};

TEST_F(KnownCpu, PapiKnowsThePmu) {
  EXPECT_EQ(papi_->info().pmu, "arm_n1");
  EXPECT_EQ(papi_->info().unusable_reason, "");
}

TEST_F(KnownCpu, TheHostsBackendIsPapi) {
  const auto host = MakeHostBackend(1);
  EXPECT_EQ(host->info().name, "papi");
  EXPECT_EQ(host->info().pmu, "arm_n1");
  EXPECT_EQ(host->info().unusable_reason, "");
}

TEST_F(KnownCpu, InstructionsOfALoopAreExact) {
  for (const int64_t turns : {1, 7, 1'000, 1'000'000}) {
    EXPECT_THAT(Count({"INST_RETIRED"}, Spin, turns),
                ::testing::ElementsAre(kInstructionsPerTurn * turns));
  }
}

TEST_F(KnownCpu, TheProductsKnownWorkIsWhatItSays) {
  constexpr int64_t kIterations = 12'345;
  int arithmetic_loops = 0;
  for (const KnownLoop& loop : HostKnownWork().loops) {
    if (!loop.facts.floating_point()) continue;
    ++arithmetic_loops;
    EXPECT_THAT(Count({"INST_RETIRED"}, loop.run, kIterations),
                ::testing::ElementsAre(loop.facts.instructions * kIterations))
        << loop.facts.name;
  }
  EXPECT_GT(arithmetic_loops, 0);
}

TEST_F(KnownCpu, MembersOfAGroupCountTheSameWork) {
  constexpr int64_t kTurns = 50'000;
  // The kernel's generic event is the same event on a counter of its own.
  const std::vector<int64_t> counts =
      Count({"INST_RETIRED", "perf::INSTRUCTIONS", "CPU_CYCLES"}, Spin, kTurns);
  EXPECT_EQ(counts[0], kInstructionsPerTurn * kTurns);
  EXPECT_EQ(counts[1], counts[0]);
  EXPECT_GT(counts[2], 0);
}

TEST_F(KnownCpu, AGroupMixesHardwareAndSoftwareEvents) {
  constexpr int64_t kPages = 100;
  const KnownWork work = HostKnownWork();
  const std::vector<int64_t> counts =
      Count({"INST_RETIRED", "perf::PAGE-FAULTS"}, work.fresh_pages, kPages);
  EXPECT_GT(counts[0], kPages);
  EXPECT_EQ(counts[1], kPages);
}

TEST_F(KnownCpu, AnEventThatThePmuLacksReadsZeroInSilence) {
  // Why a plan has to count known work; should this fail, the tests of plans below prove nothing.
  EXPECT_THAT(Count({"L1D_CACHE_REFILL"}, HostKnownWork().fresh_pages, 1'000),
              ::testing::ElementsAre(0));
}

TEST_F(KnownCpu, APlanCountsInstructionsExactlyAndLeavesOutWhatNeverMoves) {
  const CounterPlan plan = PlanCounters(*papi_, HostKnownWork());
  EXPECT_EQ(plan.unusable_reason, "");
  const PlannedMetric& instructions = plan.metric(Metric::kInstructions);
  ASSERT_TRUE(instructions.usable()) << instructions.reason;
  EXPECT_EQ(instructions.quality, Quality::kExact) << instructions.reason;
  EXPECT_EQ(instructions.measured, instructions.expected);
  EXPECT_TRUE(plan.metric(Metric::kCycles).usable()) << plan.metric(Metric::kCycles).reason;
  ASSERT_FALSE(plan.groups.empty());
  EXPECT_TRUE(plan.instructions_anchor[0].has_value());
  for (const auto& group : plan.groups) {
    const Status tried = TryGroup(*papi_, group);
    EXPECT_TRUE(tried.has_value()) << tried.error().message;
  }
  for (const Metric metric : {Metric::kL1dMisses, Metric::kL2Misses, Metric::kL3Misses}) {
    EXPECT_FALSE(plan.metric(metric).usable()) << Name(metric);
    EXPECT_THAT(plan.metric(metric).reason, StartsWith("NEVER_MOVES: ")) << Name(metric);
  }
}

TEST_F(KnownCpu, EveryMetricCountsSomethingOrSaysWhyNot) {
  const CounterReport report = ReportCounters(*papi_);
  EXPECT_TRUE(report.usable) << report.reason;
  for (const CounterMetricReport& metric : report.metrics) {
    fmt::print("  {:<17} {:<8} {} {}\n", metric.metric,
               metric.quality.has_value() ? Name(*metric.quality) : "absent", metric.formula,
               metric.reason);
    EXPECT_EQ(metric.usable, metric.quality.has_value()) << metric.metric;
    if (!metric.usable) {
      EXPECT_NE(metric.reason, "") << metric.metric;
      EXPECT_FALSE(metric.measured.has_value()) << metric.metric;
    } else if (metric.measured.has_value()) {
      EXPECT_GT(*metric.measured, 0) << metric.metric;
    }
  }
}

// The host compares these lines between two boots.
TEST_F(KnownCpu, RawCountsForTheHost) {
  const std::vector<std::string> events = {"INST_RETIRED", "CPU_CYCLES", "perf::PAGE-FAULTS"};
  std::vector<int64_t> values(events.size(), CounterBackend::kUntouched);
  ASSERT_TRUE(papi_->AttachThread(0).has_value());
  ASSERT_TRUE(papi_->OpenGroup(0, events).has_value());
  ASSERT_TRUE(papi_->Start(0).has_value());
  for (const int64_t turns : {1, 1'000, 1'000'000}) {
    Spin(turns);
    ASSERT_TRUE(papi_->Read(0, values).has_value());
    EXPECT_THAT(values, Each(::testing::Ge(0)));
    fmt::print("COUNT after {} turns more: {} instructions, {} cycles, {} page faults\n", turns,
               values[0], values[1], values[2]);
  }
  EXPECT_TRUE(papi_->Stop(0).has_value());
  papi_->CloseGroup(0);
}

}  // namespace
}  // namespace tinyprof
