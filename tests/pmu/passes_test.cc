// The whole path from PAPI to the quantities of layers, while the counters misbehave. One rule
// above all: a quantity is the declared count, or it is absent with a reason.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include "daemon/counters/papi/papi_backend.h"
#include "daemon/measure/counter_values.h"
#include "daemon/measure/measure_workload.h"
#include "daemon/measure/team_counters.h"
#include "kernels/base/declared_work.h"
#include "tests/pmu/pinned_team.h"
#include "tests/pmu/plan_at_leisure.h"
#include "tests/pmu/stand_in_script.h"
#include "tests/unit/measure/fake_workload.h"

namespace tinyprof {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr size_t kLayers = 3;
constexpr int64_t kInstructions = 5000;

// What thread `thread` does in layer `layer`, both from 0: FLOPs as 256-bit instructions of 8.
int64_t VectorsOf(size_t layer, int thread) {
  return 100 * (static_cast<int64_t>(layer) + 1) + thread;
}

void DeclareLayer(size_t layer, int thread) {
  const int64_t vectors = VectorsOf(layer, thread);
  DeclareWork(WorkSignal::kFlops, 8 * vectors);
  DeclareWork(WorkSignal::kFp256Single, vectors);
  DeclareWork(WorkSignal::kInstructions, kInstructions);
  DeclareWork(WorkSignal::kCycles, 2 * kInstructions);
  DeclareWork(WorkSignal::kL1dMisses, 50);
  DeclareWork(WorkSignal::kL2Misses, 40);
  DeclareWork(WorkSignal::kL3Misses, 30);
}

class PassesTest : public ::testing::TestWithParam<int> {
 protected:
  PassesTest() {
    StandInScript(cpu_).ApplyAfresh();
    backend_ = MakePapiBackend(kMostThreads);
    options_.threads = threads();
    options_.time_budget_ns = 1'000'000;
    workload_.on_run = [this](size_t layer) {
#pragma omp parallel num_threads(threads())
      DeclareLayer(layer, omp_get_thread_num());
      if (after_layer_) {
        after_layer_();
      }
    };
  }

  void SetUp() override { PinTestTeam(threads()); }

  int threads() const { return GetParam(); }

  CounterPlan Plan() { return PlanAtLeisure(*backend_); }

  Result<RunMeasurement> TryRun(const CounterPlan& plan) {
    return MeasureWorkload(workload_, clock_,
                           {.counters = *backend_,
                            .plan = plan,
                            .software = {},
                            .preemptions = [] { return int64_t{0}; },
                            .memory = HostMemoryControllers()},
                           options_, {});
  }

  RunMeasurement Run(const CounterPlan& plan) {
    Result<RunMeasurement> run = TryRun(plan);
    EXPECT_TRUE(run.has_value()) << run.error().message;
    return run.value_or(RunMeasurement{});
  }

  // By hand from DeclareLayer, over the team.
  double Truth(Metric metric, size_t layer) const {
    switch (metric) {
      case Metric::kFlopsDouble:
        return 0;
      case Metric::kFlops:
      case Metric::kFlopsSingle: {
        int64_t vectors = 0;
        for (int thread = 0; thread < threads(); ++thread) {
          vectors += VectorsOf(layer, thread);
        }
        return static_cast<double>(8 * vectors);
      }
      case Metric::kCycles:
        return threads() * 2.0 * kInstructions;
      case Metric::kInstructions:
        return threads() * 1.0 * kInstructions;
      case Metric::kL1dMisses:
        return threads() * 50.0;
      case Metric::kL2Misses:
        return threads() * 40.0;
      default:
        return threads() * 30.0;
    }
  }

  // The rule above all. Returns how many quantities have a value.
  int ExpectHonest(RunMeasurement& run) {
    int present = 0;
    EXPECT_EQ(run.layers.size(), kLayers);
    for (const Metric metric : kMetrics) {
      double sum = 0;
      for (size_t layer = 0; layer < run.layers.size(); ++layer) {
        sum += Truth(metric, layer);
        present +=
            ExpectHonest(At(run.layers[layer].counters, metric), metric, Truth(metric, layer));
      }
      present += ExpectHonest(At(run.totals, metric), metric, sum);
    }
    EXPECT_NE(run.counter_source, "papi");
    return present;
  }

  static int ExpectHonest(const Quantity& quantity, Metric metric, double truth) {
    EXPECT_EQ(Name(quantity.source), "simulated") << Name(metric);
    if (quantity.value.has_value()) {
      EXPECT_EQ(*quantity.value, truth) << Name(metric) << " by " << quantity.formula;
      EXPECT_TRUE(quantity.quality.has_value());
      return 1;
    }
    EXPECT_FALSE(quantity.quality.has_value());
    EXPECT_THAT(quantity.reason, testing::ContainsRegex("^[A-Z_0-9]+: .+")) << Name(metric);
    return 0;
  }

  // The metrics that this CPU counts for a thread.
  int usable_metrics() const {
    // Only the widths of Skylake's events tell the precisions apart among those that are scripted.
    constexpr int kPrecisions = 2;
    return (cpu_.l3_misses.empty() ? 5 : 6) + (cpu_.pmu == "skx" ? kPrecisions : 0);
  }

  static constexpr int kMostThreads = 2;
  const Cpu& cpu_ = ForcedCpu();
  std::unique_ptr<CounterBackend> backend_;
  FakeClock clock_;
  FakeWorkload workload_{clock_, {10'000, 20'000, 30'000}};
  MeasureOptions options_;
  std::function<void()> after_layer_;
};

TEST_P(PassesTest, EveryLayerAndTheTotalAreExact) {
  RunMeasurement run = Run(Plan());
  EXPECT_EQ(ExpectHonest(run), usable_metrics() * static_cast<int>(kLayers + 1));
  EXPECT_EQ(run.counter_source, "simulated");
  EXPECT_EQ(run.passes.discarded, 0);
  EXPECT_EQ(run.layers[0].counters.flops.quality, Quality::kExact);
}

TEST_P(PassesTest, TeamCountersKeepThreadsApart) {
  TeamCounters team(*backend_, threads());
  const std::vector<std::string> events = {cpu_.instructions.name, cpu_.l1d_misses.name};
  ASSERT_TRUE(team.Open(events).has_value());
  std::vector<int64_t> before(team.value_count());
  std::vector<int64_t> after(team.value_count());
  ASSERT_TRUE(team.Read(before).has_value());
#pragma omp parallel num_threads(threads())
  {
    DeclareWork(WorkSignal::kInstructions, 1000 * (omp_get_thread_num() + 1));
    DeclareWork(WorkSignal::kL1dMisses, 10 + omp_get_thread_num());
  }
  ASSERT_TRUE(team.Read(after).has_value());
  for (size_t thread = 0; thread < static_cast<size_t>(threads()); ++thread) {
    EXPECT_EQ(after[2 * thread] - before[2 * thread], 1000 * static_cast<int64_t>(thread + 1));
    EXPECT_EQ(after[2 * thread + 1] - before[2 * thread + 1], static_cast<int64_t>(10 + thread));
  }
}

TEST_P(PassesTest, AnyCallMayFailAtAnyTime) {
  int with_values = 0;
  int without_values = 0;
  for (const char* fault : {"open {} EMFILE", "open {} EBUSY", "enable {} EBUSY", "disable {} EIO",
                            "reset {} EIO", "read {} EIO", "read {} empty", "read {} short"}) {
    for (const char* when : {"1", "5+", "34", "233+", "987"}) {
      SCOPED_TRACE(fmt::format(fmt::runtime(fault), when));
      StandInScript(cpu_).Line("fail " + fmt::format(fmt::runtime(fault), when)).Apply();
      RunMeasurement run = Run(Plan());
      (ExpectHonest(run) > 0 ? with_values : without_values) += 1;
      StandInScript(cpu_).ApplyAfresh();
    }
  }
  // Both ways out were taken.
  EXPECT_GT(with_values, 0);
  EXPECT_GT(without_values, 0);
  RunMeasurement well = Run(Plan());
  EXPECT_EQ(ExpectHonest(well), usable_metrics() * static_cast<int>(kLayers + 1));
}

TEST_P(PassesTest, GroupThatLosesItsCountersIsCountedAgain) {
  const CounterPlan plan = Plan();
  int layers_run = 0;
  // Late enough to be in a pass that counts, which one does not matter.
  after_layer_ = [&] {
    ++layers_run;
    if (layers_run % 7 == 0) {
      StandInScript(cpu_).Line(fmt::format("held {}", cpu_.counters)).Apply();
    } else if (layers_run % 7 == 1) {
      StandInScript(cpu_).Apply();
    }
  };
  RunMeasurement run = Run(plan);
  EXPECT_GT(ExpectHonest(run), 0) << testing::PrintToString(run.passes.discarded_for)
                                  << run.totals.instructions.reason;
  EXPECT_GT(run.passes.discarded, 0);
}

TEST_P(PassesTest, CountersTakenForGoodLeaveNothingButReasons) {
  const CounterPlan plan = Plan();
  // Fixed counters of Intel are nobody else's, so a group needs a programmable one to be lost.
  StandInScript(cpu_).Line(fmt::format("held {}", cpu_.counters)).Apply();
  RunMeasurement run = Run(plan);
  ExpectHonest(run);
  EXPECT_FALSE(run.totals.flops.value.has_value());
  EXPECT_THAT(run.totals.flops.reason,
              AnyOf(StartsWith("COUNTER_BUSY: "), StartsWith("COUNTERS_LOST: ")));
}

TEST_P(PassesTest, CountsThatWrapOrRunBackwardsAreThrownAway) {
  const CounterPlan plan = Plan();
  for (const char* fault :
       {"constant 500 wrap 48 start 0xfffffffffbfa", "constant 500 restart 37"}) {
    SCOPED_TRACE(fault);
    StandInScript(cpu_)
        .Event(cpu_.instructions, std::string("signal instructions ") + fault)
        .Apply();
    RunMeasurement run = Run(plan);
    ExpectHonest(run);
    EXPECT_THAT(run.totals.instructions.reason, StartsWith("COUNTERS_LOST: "));
    EXPECT_GT(run.passes.discarded, 0);
  }
}

TEST_P(PassesTest, CountersThatStopAfterCalibrationGiveNoZero) {
  const CounterPlan plan = Plan();
  for (const char* count : {"constant 0", "constant 9", "step 3"}) {
    SCOPED_TRACE(count);
    StandInScript script(cpu_);
    for (const CpuEvent& event : cpu_.events()) script.Event(event, count);
    script.Apply();
    RunMeasurement run = Run(plan);
    for (const Metric metric : kMetrics) {
      EXPECT_FALSE(At(run.totals, metric).value.has_value()) << Name(metric);
    }
    EXPECT_EQ(ExpectHonest(run), 0);
    EXPECT_THAT(run.totals.flops.reason, StartsWith("STOPPED_MOVING: "));
    EXPECT_THAT(run.warnings, Contains(HasSubstr("tinyprof-client counters --calibrate")));
  }
}

TEST_P(PassesTest, OneCounterThatStopsIsLeftOut) {
  const CounterPlan plan = Plan();
  workload_.layer_work = [](size_t layer) {
    return LayerWork{.least_flops_single = 8.0 * static_cast<double>(VectorsOf(layer, 0))};
  };
  for (const auto& [event, metric] : {std::pair(cpu_.cycles, Metric::kCycles),
                                      std::pair(cpu_.instructions, Metric::kInstructions),
                                      std::pair(cpu_.flops.back().event, Metric::kFlops)}) {
    for (const char* count : {"constant 0", "constant 9", "step 3"}) {
      SCOPED_TRACE(event.name + " " + count);
      StandInScript script(cpu_);
      script.Event(event, count);
      if (metric == Metric::kFlops) {
        for (const FlopEvent& flop : cpu_.flops) script.Event(flop.event, count);
      }
      script.Apply();
      RunMeasurement run = Run(plan);
      ExpectHonest(run);
      EXPECT_FALSE(At(run.totals, metric).value.has_value());
      EXPECT_THAT(At(run.totals, metric).reason, StartsWith("STOPPED_MOVING: "));
      EXPECT_EQ(run.doubted_metrics.count(metric), 1U);
      // What counts on beside it is there, but no better than suspect beside a dead anchor.
      EXPECT_TRUE(run.totals.l1d_misses.value.has_value());
      EXPECT_EQ(run.totals.l1d_misses.quality == Quality::kSuspect, metric != Metric::kFlops);
    }
  }
}

TEST_P(PassesTest, CountsThatNoCoreCanHaveAreLeftOut) {
  const CounterPlan plan = Plan();
  for (const auto& [event, metric] : {std::pair(cpu_.instructions, Metric::kInstructions),
                                      std::pair(cpu_.l1d_misses, Metric::kL1dMisses)}) {
    SCOPED_TRACE(event.name);
    StandInScript(cpu_).Event(event, "signal " + event.signals + " times 1000").Apply();
    RunMeasurement run = Run(plan);
    ExpectHonest(run);
    EXPECT_THAT(At(run.totals, metric).reason, StartsWith("IMPLAUSIBLE: "));
    EXPECT_THAT(run.warnings, Contains(HasSubstr("counts that cannot be right")));
  }
  StandInScript script(cpu_);
  for (const FlopEvent& flop : cpu_.flops) {
    script.Event(flop.event, "signal " + flop.event.signals + " times 1000");
  }
  script.Apply();
  RunMeasurement run = Run(plan);
  ExpectHonest(run);
  EXPECT_THAT(run.totals.flops.reason, StartsWith("IMPLAUSIBLE: "));
}

TEST_P(PassesTest, AskingForCountersThatAllStoppedIsRefused) {
  const CounterPlan plan = Plan();
  StandInScript script(cpu_);
  for (const CpuEvent& event : cpu_.events()) script.Event(event, "constant 0");
  script.Apply();
  options_.counters = CounterMode::kPapi;
  const Result<RunMeasurement> run = TryRun(plan);
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(run.error().reason, "COUNTERS_UNAVAILABLE");
  EXPECT_THAT(run.error().message, HasSubstr("STOPPED_MOVING: "));
}

TEST_P(PassesTest, NoModeOfCountingSaysPapi) {
  for (const CounterMode mode : {CounterMode::kAuto, CounterMode::kPapi, CounterMode::kNone}) {
    options_.counters = mode;
    RunMeasurement run = Run(Plan());
    ExpectHonest(run);
    EXPECT_EQ(run.counter_source, mode == CounterMode::kNone ? "none" : "simulated");
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, PassesTest, ::testing::Values(1, 2));

}  // namespace
}  // namespace tinyprof
