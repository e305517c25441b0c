// Counts through the product's PAPI backend and unmodified libpapi, against declared work: each
// value that comes out must be the one that was declared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "daemon/counters/counter_plan.h"
#include "daemon/counters/counter_report.h"
#include "daemon/counters/cpu_family.h"
#include "daemon/counters/event_catalogue.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/perf/perf_backend.h"
#include "daemon/counters/try_group.h"
#include "kernels/base/declared_work.h"
#include "tests/pmu/plan_at_leisure.h"
#include "tests/pmu/stand_in_script.h"

namespace tinyprof {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;

// `units` of work with a different count of each kind; FLOPs by hand: single 3*1 + 5*4 + 7*8 +
// 11*16 = 255, double 13*1 + 17*2 + 19*4 + 23*8 = 307.
constexpr int64_t kFlopsOfAUnit = 255 + 307;
void DeclareMixedWork(int64_t units) {
  DeclareWork(WorkSignal::kFpScalarSingle, 3 * units);
  DeclareWork(WorkSignal::kFp128Single, 5 * units);
  DeclareWork(WorkSignal::kFp256Single, 7 * units);
  DeclareWork(WorkSignal::kFp512Single, 11 * units);
  DeclareWork(WorkSignal::kFpScalarDouble, 13 * units);
  DeclareWork(WorkSignal::kFp128Double, 17 * units);
  DeclareWork(WorkSignal::kFp256Double, 19 * units);
  DeclareWork(WorkSignal::kFp512Double, 23 * units);
  DeclareWork(WorkSignal::kFlops, kFlopsOfAUnit * units);
  DeclareWork(WorkSignal::kCycles, 1000 * units);
  DeclareWork(WorkSignal::kInstructions, 2000 * units);
  DeclareWork(WorkSignal::kL1dMisses, 300 * units);
  DeclareWork(WorkSignal::kL2Misses, 40 * units);
  DeclareWork(WorkSignal::kL3Misses, 5 * units);
}

class CountingTest : public ::testing::Test {
 protected:
  // The rules come first: PAPI looks at the machine when the first backend is made.
  CountingTest() {
    StandInScript(cpu_).Apply();
    backend_ = MakePapiBackend(4);
  }

  const Cpu& cpu_ = ForcedCpu();
  std::unique_ptr<CounterBackend> backend_;
};

std::vector<int64_t> CountMixedWork(CounterBackend& backend,
                                    const std::vector<std::string>& events) {
  const Result<std::vector<int64_t>> counts = CountWork(backend, events, DeclareMixedWork, 1000);
  EXPECT_TRUE(counts.has_value()) << counts.error().message;
  return counts.value_or(std::vector<int64_t>{});
}

TEST_F(CountingTest, BackendCallsItselfSimulatedAndFindsThePmu) {
  EXPECT_EQ(backend_->info().name, "simulated");
  EXPECT_EQ(backend_->info().pmu, cpu_.pmu);
  EXPECT_EQ(backend_->info().unusable_reason, "");
}

TEST_F(CountingTest, SingleEventsCountTheirOwnKindOfWork) {
  EXPECT_THAT(CountMixedWork(*backend_, {cpu_.cycles.name}), ElementsAre(1'000'000));
  EXPECT_THAT(CountMixedWork(*backend_, {cpu_.instructions.name}), ElementsAre(2'000'000));
  EXPECT_THAT(CountMixedWork(*backend_, {cpu_.l1d_misses.name}), ElementsAre(300'000));
  EXPECT_THAT(CountMixedWork(*backend_, {cpu_.l2_misses.name}), ElementsAre(40'000));
  for (const CpuEvent& event : cpu_.l3_misses) {
    EXPECT_THAT(CountMixedWork(*backend_, {event.name}), ElementsAre(5'000));
  }
}

TEST_F(CountingTest, FlopEventsTimesTheirLanesAreTheFlops) {
  int64_t flops = 0;
  for (const FlopEvent& flop : cpu_.flops) {
    const std::vector<int64_t> counts = CountMixedWork(*backend_, {flop.event.name});
    ASSERT_EQ(counts.size(), 1U);
    flops += flop.flops_each * counts[0];
  }
  EXPECT_EQ(flops, 1000 * kFlopsOfAUnit);
}

TEST_F(CountingTest, GroupCountsInTheOrderThatWasAskedFor) {
  EXPECT_THAT(CountMixedWork(*backend_, {cpu_.l1d_misses.name, cpu_.cycles.name,
                                         cpu_.l2_misses.name, cpu_.instructions.name}),
              ElementsAre(300'000, 1'000'000, 40'000, 2'000'000));
}

TEST_F(CountingTest, ReadsAddUpAndAGroupCanBeOpenedAgain) {
  const std::vector<std::string> events = {cpu_.cycles.name, cpu_.l1d_misses.name};
  ASSERT_TRUE(backend_->AttachThread(0).has_value());
  for (int round = 0; round < 3; ++round) {
    DeclareMixedWork(7);  // before the group counts
    ASSERT_TRUE(backend_->OpenGroup(0, events).has_value());
    DeclareMixedWork(7);
    ASSERT_TRUE(backend_->Start(0).has_value());
    std::vector<int64_t> values(2);
    for (int64_t read = 0; read < 3; ++read) {
      ASSERT_TRUE(backend_->Read(0, values).has_value());
      EXPECT_THAT(values, ElementsAre(1000 * read, 300 * read));
      DeclareMixedWork(1);
    }
    ASSERT_TRUE(backend_->Stop(0).has_value());
    backend_->CloseGroup(0);
  }
}

// Four threads count at the same time, each a different amount of work.
void ExpectEachThreadCountsItsOwn(CounterBackend& backend, const Cpu& cpu) {
  const std::vector<std::string> events = {cpu.instructions.name, cpu.l1d_misses.name};
  std::vector<std::vector<int64_t>> values(4, std::vector<int64_t>(2));
  std::vector<std::string> failures(4);
  const auto count = [&](int thread) -> Status {
    const auto index = static_cast<size_t>(thread);
    TINYPROF_RETURN_IF_ERROR(backend.AttachThread(thread));
    TINYPROF_RETURN_IF_ERROR(backend.OpenGroup(thread, events));
    TINYPROF_RETURN_IF_ERROR(backend.Start(thread));
    for (int i = 0; i < 100; ++i) {
      DeclareMixedWork(thread + 1);
      TINYPROF_RETURN_IF_ERROR(backend.Read(thread, values[index]));
    }
    return backend.Stop(thread);
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const Status status = count(thread);
      backend.CloseGroup(thread);
      failures[static_cast<size_t>(thread)] = status.has_value() ? "" : status.error().message;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(failures, Each(""));
  for (int64_t thread = 0; thread < 4; ++thread) {
    EXPECT_THAT(values[static_cast<size_t>(thread)],
                ElementsAre(100 * 2000 * (thread + 1), 100 * 300 * (thread + 1)));
  }
}

TEST_F(CountingTest, EachThreadCountsItsOwnWork) { ExpectEachThreadCountsItsOwn(*backend_, cpu_); }

TEST_F(CountingTest, EachThreadCountsItsOwnWorkWithoutPapi) {
  const CpuFamily family = FamilyOf(cpu_.pmu);
  const auto resolve = [family](std::string_view event) { return RawEncoding(family, event); };
  const auto backend = MakePerfBackend({.max_threads = 4, .resolve = resolve});
  EXPECT_EQ(backend->info().name, "simulated");
  ExpectEachThreadCountsItsOwn(*backend, cpu_);
}

TEST_F(CountingTest, EventsFitUntilTheCountersEnd) {
  const std::vector<CpuEvent> all = cpu_.events();
  for (size_t counters = 1; counters < all.size(); ++counters) {
    // Every event at the price of one counter, so that as many fit as there are counters.
    StandInScript script(cpu_);
    for (CpuEvent event : all) {
      event.counter_cost = 1;
      script.Event(event, "signal " + event.signals);
    }
    script.Line("counters " + std::to_string(counters)).Apply();
    std::vector<std::string> events;
    for (size_t i = 0; i < counters; ++i) {
      events.push_back(all[i].name);
    }
    EXPECT_TRUE(TryGroup(*backend_, events).has_value()) << counters;
    events.push_back(all[counters].name);
    const Status full = TryGroup(*backend_, events);
    ASSERT_FALSE(full.has_value()) << counters;
    EXPECT_EQ(full.error().reason, "GROUP_FULL");
  }
}

TEST_F(CountingTest, PlanTrustsEveryMetricThatTheCpuCounts) {
  const CounterPlan plan = PlanAtLeisure(*backend_);
  EXPECT_EQ(plan.unusable_reason, "");
  for (const Metric metric : {Metric::kFlops, Metric::kInstructions, Metric::kCycles,
                              Metric::kL1dMisses, Metric::kL2Misses}) {
    EXPECT_TRUE(plan.metric(metric).usable()) << Name(metric) << ": " << plan.metric(metric).reason;
  }
  EXPECT_EQ(plan.metric(Metric::kFlops).quality, Quality::kExact);
  EXPECT_EQ(plan.metric(Metric::kInstructions).quality, Quality::kExact);
  EXPECT_EQ(plan.metric(Metric::kL3Misses).usable(), !cpu_.l3_misses.empty());
}

// The value of a metric for one dose of work, from its formula and the groups of the plan.
double ValueOf(CounterBackend& backend, const CounterPlan& plan, Metric metric) {
  const PlannedMetric& planned = plan.metric(metric);
  double value = 0;
  for (size_t term = 0; term < planned.positions.size(); ++term) {
    const EventPosition& position = planned.positions[term];
    const std::vector<int64_t> counts = CountMixedWork(backend, plan.groups[position.group]);
    value += planned.formula->terms[term].weight * static_cast<double>(counts.at(position.index));
  }
  return value;
}

TEST_F(CountingTest, DerivedMetricsOfThePlannedGroupsAreExact) {
  const CounterPlan plan = PlanAtLeisure(*backend_);
  EXPECT_EQ(ValueOf(*backend_, plan, Metric::kFlops), 1000 * kFlopsOfAUnit);
  EXPECT_EQ(ValueOf(*backend_, plan, Metric::kCycles), 1'000'000);
  EXPECT_EQ(ValueOf(*backend_, plan, Metric::kInstructions), 2'000'000);
  EXPECT_EQ(ValueOf(*backend_, plan, Metric::kL1dMisses), 300'000);
  EXPECT_EQ(ValueOf(*backend_, plan, Metric::kL2Misses), 40'000);
}

TEST_F(CountingTest, PlanPacksIntoTheCountersThatExist) {
  const CounterPlan plan = PlanAtLeisure(*backend_);
  ASSERT_FALSE(plan.groups.empty());
  for (const std::vector<std::string>& group : plan.groups) {
    int cost = 0;
    for (const std::string& name : group) {
      for (const CpuEvent& event : cpu_.events()) {
        cost += event.name == name ? event.counter_cost : 0;
      }
    }
    EXPECT_LE(cost, cpu_.counters);
  }
}

TEST_F(CountingTest, PlanGoesOnWithFewerCountersInMoreGroups) {
  const CounterPlan roomy = PlanAtLeisure(*backend_);
  StandInScript(cpu_).Line("counters 3").Apply();
  const CounterPlan narrow = PlanAtLeisure(*backend_);
  EXPECT_GT(narrow.groups.size(), roomy.groups.size());
  for (const Metric metric : kMetrics) {
    EXPECT_EQ(narrow.metric(metric).usable(), roomy.metric(metric).usable()) << Name(metric);
  }
  EXPECT_EQ(ValueOf(*backend_, narrow, Metric::kFlops), 1000 * kFlopsOfAUnit);
}

TEST_F(CountingTest, ReportSaysSimulated) {
  const CounterReport report = ReportCounters(*backend_);
  EXPECT_EQ(report.backend, "simulated");
  EXPECT_TRUE(report.usable) << report.reason;
}

}  // namespace
}  // namespace tinyprof
