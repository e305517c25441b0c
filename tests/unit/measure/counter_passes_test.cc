#include "daemon/measure/counter_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include "daemon/measure/counter_values.h"
#include "fake_workload.h"

namespace tinyprof {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::StartsWith;

// Two groups: {CYC, INS, FP4, FP8} and {CYC, INS, L1}; FLOPs are 4*FP4 + 8*FP8.
CounterPlan TwoGroups() {
  CounterPlan plan;
  plan.groups = {{"CYC", "INS", "FP4", "FP8"}, {"CYC", "INS", "L1"}};
  plan.instructions_anchor = {1, 1};
  const auto set = [&](Metric metric, const char* formula, std::vector<EventPosition> positions,
                       Quality quality) {
    PlannedMetric& planned = plan.metrics[static_cast<size_t>(metric)];
    planned.formula = *ParseFormula(formula);
    planned.positions = std::move(positions);
    planned.quality = quality;
  };
  set(Metric::kFlops, "4*FP4 + 8*FP8", {{0, 2}, {0, 3}}, Quality::kExact);
  set(Metric::kCycles, "CYC", {{0, 0}}, Quality::kGood);
  set(Metric::kInstructions, "INS", {{0, 1}}, Quality::kExact);
  set(Metric::kL1dMisses, "L1", {{1, 2}}, Quality::kGood);
  for (PlannedMetric& metric : plan.metrics) {
    if (!metric.usable()) {
      metric.reason = "NONE: not in this test";
    }
  }
  return plan;
}

class CounterPassesTest : public ::testing::Test {
 protected:
  CounterPassesTest() {
    backend_.events = {"CYC", "INS", "FP4", "FP8", "L1"};
    workload_.on_run = [this](size_t node) {
      const auto layer = static_cast<int64_t>(node) + 1;
      backend_.Happen(0, "CYC", 1000 * layer);
      backend_.Happen(0, "INS", 2000 * layer + extra_instructions_);
      backend_.Happen(0, "FP4", 10 * layer);
      backend_.Happen(0, "FP8", node == 1 ? 5 : 0);
      backend_.Happen(0, "L1", 7);
    };
  }

  Result<CounterSamples> Run(int64_t budget_ns = 1'000'000'000) {
    CounterPasses passes(workload_, clock_, backend_, plan_, options_, hooks_, current_cpu_);
    return passes.Run(clock_.now_ns + budget_ns);
  }
  std::vector<CounterValues> Layers(const CounterSamples& samples) {
    return LayerValues(plan_, samples, workload_.node_count(), Source::kPapi);
  }

  FakeClock clock_;
  FakeWorkload workload_{clock_, {10'000, 20'000}};
  FakeBackend backend_;
  CounterPlan plan_ = TwoGroups();
  MeasureOptions options_;
  MeasureHooks hooks_;
  int64_t extra_instructions_ = 0;
  std::function<int()> current_cpu_ = [] { return 0; };
};

TEST_F(CounterPassesTest, LayersGetTheirOwnCountsAndTotalsAreTheirSum) {
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(samples->counting, 10);  // five passes of each group
  EXPECT_EQ(samples->discarded, 0);
  const std::vector<CounterValues> layers = Layers(*samples);
  EXPECT_EQ(layers[0].flops.value, 40);       // 4 * 10
  EXPECT_EQ(layers[1].flops.value, 80 + 40);  // 4 * 20 + 8 * 5
  EXPECT_EQ(layers[1].cycles.value, 2000);
  EXPECT_EQ(layers[0].instructions.value, 2000);
  EXPECT_EQ(layers[0].l1d_misses.value, 7);
  EXPECT_EQ(layers[1].flops.quality, Quality::kExact);
  EXPECT_EQ(layers[1].flops.formula, "4*FP4 + 8*FP8");
  EXPECT_EQ(layers[1].cycles.quality, Quality::kGood);

  const CounterValues totals = SumOverLayers(layers, AbsentValues("NONE: x", Source::kPapi));
  EXPECT_EQ(totals.flops.value, 160);
  EXPECT_EQ(totals.instructions.value, 6000);
  EXPECT_EQ(totals.l1d_misses.value, 14);
}

TEST_F(CounterPassesTest, TheCostOfReadingIsTakenOff) {
  backend_.read_cost = 175;
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  const std::vector<CounterValues> layers = Layers(*samples);
  EXPECT_EQ(layers[0].flops.value, 40);
  EXPECT_EQ(layers[0].instructions.value, 2000);
  EXPECT_EQ(layers[1].l1d_misses.value, 7);
}

TEST_F(CounterPassesTest, WhatCannotBeCountedIsAbsentAndNeverZero) {
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  for (const CounterValues& layer : Layers(*samples)) {
    for (const Quantity& quantity :
         {layer.l2_misses, layer.l3_misses, layer.dram_bytes, layer.flops_single,
          layer.flops_double, layer.stall_cycles, layer.branch_misses, layer.dtlb_misses}) {
      EXPECT_EQ(quantity.value, std::nullopt);
      EXPECT_EQ(quantity.quality, std::nullopt);
      EXPECT_EQ(quantity.reason, "NONE: not in this test");
    }
    EXPECT_EQ(layer.dram_bytes.unit, "byte");
    EXPECT_EQ(layer.flops_single.unit, "flop");
    EXPECT_EQ(layer.stall_cycles.unit, "cycle");
    EXPECT_EQ(layer.dtlb_misses.unit, "count");
  }
  const CounterValues totals =
      SumOverLayers(Layers(*samples), AbsentValues("NONE: x", Source::kPapi));
  EXPECT_EQ(totals.l2_misses.value, std::nullopt);
}

TEST_F(CounterPassesTest, AnEstimateIsLabelledOneInItsFormula) {
  PlannedMetric& planned = plan_.metrics[static_cast<size_t>(Metric::kDramBytes)];
  planned.formula = *ParseFormula("64*L1");
  planned.formula->rule.proxy = true;
  planned.positions = {{1, 2}};
  planned.quality = Quality::kGood;
  planned.reason.clear();
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(Layers(*samples)[0].dram_bytes.value, 448);  // 64 * 7
  EXPECT_EQ(Layers(*samples)[0].dram_bytes.formula, "estimate: 64*L1");
}

TEST_F(CounterPassesTest, APassThatRetiredMoreIsThrownAwayAndCounted) {
  const auto count = workload_.on_run;
  workload_.on_run = [&, count](size_t node) {
    // The second pass does 5 % more, beyond the 3 % that are allowed.
    extra_instructions_ = workload_.runs[0] == 2 ? 150 : 0;
    count(node);
  };
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(samples->discarded, 1);
  EXPECT_EQ(samples->counting, 10);
  EXPECT_EQ(Layers(*samples)[0].instructions.value, 2000);
  EXPECT_EQ(Layers(*samples)[0].instructions.quality, Quality::kExact);
}

TEST_F(CounterPassesTest, SmallDriftIsKeptAndNoLongerExact) {
  const auto count = workload_.on_run;
  workload_.on_run = [&, count](size_t node) {
    extra_instructions_ = workload_.runs[0] == 2 ? 10 : 0;
    count(node);
  };
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(samples->discarded, 0);
  EXPECT_EQ(Layers(*samples)[0].instructions.quality, Quality::kGood);
  EXPECT_EQ(Layers(*samples)[0].instructions.value, 2000);
  EXPECT_EQ(Layers(*samples)[0].flops.quality, Quality::kExact);
}

TEST_F(CounterPassesTest, AGroupThatDoesDifferentWorkThanTheFirstIsSuspect) {
  const auto count = workload_.on_run;
  workload_.on_run = [&, count](size_t node) {
    // From the sixth pass on, the second group's.
    extra_instructions_ = workload_.runs[0] >= 6 ? 1000 : 0;
    count(node);
  };
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  const std::vector<CounterValues> layers = Layers(*samples);
  EXPECT_EQ(layers[0].l1d_misses.quality, Quality::kSuspect);
  EXPECT_THAT(layers[0].l1d_misses.reason, StartsWith("ANCHOR_DRIFT: "));
  EXPECT_EQ(layers[0].flops.quality, Quality::kExact);
  const CounterValues totals = SumOverLayers(layers, AbsentValues("NONE: x", Source::kPapi));
  EXPECT_EQ(totals.l1d_misses.quality, Quality::kSuspect);
  EXPECT_THAT(totals.l1d_misses.reason, StartsWith("ANCHOR_DRIFT: "));
}

TEST_F(CounterPassesTest, LostSilentAndBackwardReadsAreCountedAgain) {
  // A pass has 33 reads of calibration and three of its own, and the first of a group 64 that are
  // timed: the second pass loses a read, the third is not written, the fourth runs backwards.
  backend_.failing_reads = {100 + 34};
  backend_.silent_reads = {135 + 35};
  backend_.resetting_reads = {171 + 35};
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(samples->discarded, 3);
  EXPECT_EQ(samples->discarded_for, (std::map<std::string, int32_t>{{"COUNTERS_LOST", 3}}));
  EXPECT_EQ(samples->counting, 10);
  EXPECT_EQ(Layers(*samples)[1].flops.value, 120);
}

TEST_F(CounterPassesTest, APassInWhichAThreadMovedIsCountedAgain) {
  int asked = 0;
  // On CPU 2 at the beginning of the second pass, on 5 from its end on.
  current_cpu_ = [&] { return ++asked <= 3 ? 2 : 5; };
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(samples->discarded, 1);
  EXPECT_EQ(samples->discarded_for, (std::map<std::string, int32_t>{{"MIGRATED", 1}}));
  EXPECT_EQ(samples->counting, 10);
  EXPECT_EQ(Layers(*samples)[0].flops.quality, Quality::kExact);
}

TEST_F(CounterPassesTest, AThreadThatNeverStaysCountsNothingAndTheReasonIsThat) {
  int asked = 0;
  current_cpu_ = [&] { return ++asked; };
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(samples->counting, 0);
  EXPECT_EQ(samples->read_cost, std::nullopt);
  EXPECT_EQ(Layers(*samples)[0].flops.value, std::nullopt);
  EXPECT_THAT(Layers(*samples)[0].flops.reason, StartsWith("MIGRATED: "));
}

TEST_F(CounterPassesTest, WhatAReadCostsIsThatOfTheDearestGroup) {
  // 700 ns for each event of a read, on a clock whose own read takes no time.
  clock_.read_cost_ns = 0;
  backend_.on_read = [&](size_t events) { clock_.now_ns += 700 * static_cast<int64_t>(events); };
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  ASSERT_TRUE(samples->read_cost.has_value());
  EXPECT_EQ(samples->read_cost->event_count, 4);
  EXPECT_EQ(samples->read_cost->per_border_ns, 2800);
  EXPECT_EQ(samples->read_cost->per_thread_ns, 2800);
}

TEST_F(CounterPassesTest, AGroupThatIsAlwaysLostIsAbsentAndTheOtherCounts) {
  backend_.events.erase("L1");
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  const std::vector<CounterValues> layers = Layers(*samples);
  EXPECT_EQ(layers[0].l1d_misses.value, std::nullopt);
  EXPECT_EQ(layers[0].l1d_misses.reason, "EVENT_NOT_ON_CPU: no L1");
  EXPECT_EQ(layers[0].flops.value, 40);
  EXPECT_EQ(samples->discarded, static_cast<int32_t>(CounterPasses::kMaxAttempts));
}

TEST_F(CounterPassesTest, AFormulaThatGivesLessThanNothingIsAbsent) {
  plan_.metrics[static_cast<size_t>(Metric::kL1dMisses)].formula = *ParseFormula("-1*L1");
  const Result<CounterSamples> samples = Run();
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(Layers(*samples)[0].l1d_misses.value, std::nullopt);
  EXPECT_THAT(Layers(*samples)[0].l1d_misses.reason, StartsWith("IMPLAUSIBLE: "));
}

TEST_F(CounterPassesTest, NoBudgetStillCountsEachGroupThreeTimes) {
  const Result<CounterSamples> samples = Run(0);
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(samples->counting, 6);
}

TEST_F(CounterPassesTest, AColdRunFlushesBeforeEveryPass) {
  options_.cache = CacheMode::kCold;
  ASSERT_TRUE(Run().has_value());
  EXPECT_EQ(workload_.flushes, workload_.runs[0]);
}

TEST_F(CounterPassesTest, CancelEndsTheRun) {
  hooks_.cancelled = [&] { return workload_.runs[0] >= 2; };
  const Result<CounterSamples> samples = Run();
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(workload_.runs[0], 2);
}

// Each thread counts its own share, and reading is thread-safe only per thread, as with PAPI.
class PerThreadBackend final : public CounterBackend {
 public:
  explicit PerThreadBackend(int threads) : slots_(static_cast<size_t>(threads)) {}
  const BackendInfo& info() const override { return info_; }
  Status AttachThread(int thread) override { return Check(thread); }
  Status OpenGroup(int thread, std::span<const std::string>) override { return Check(thread); }
  Status Start(int thread) override { return Check(thread); }
  Status Stop(int thread) override { return Check(thread); }
  void CloseGroup(int) override {}
  Status Read(int thread, std::span<int64_t> values) override {
    values[0] = slots_[static_cast<size_t>(thread)].count;
    return Check(thread);
  }
  void Happen(int thread, int64_t count) { slots_[static_cast<size_t>(thread)].count += count; }

 private:
  struct alignas(64) Slot {
    int64_t count = 0;
  };
  static Status Check(int thread) {
    if (omp_get_thread_num() != thread) {
      return Fail(ErrorCode::kInternal, "PROTOCOL", "called on another thread");
    }
    return {};
  }
  BackendInfo info_;
  std::vector<Slot> slots_;
};

TEST(CounterPassesOnATeam, SumOverThreads) {
  constexpr int kThreads = 3;
  PerThreadBackend backend(kThreads);
  FakeClock clock;
  FakeWorkload workload(clock, {10'000, 10'000});
  workload.on_run = [&](size_t node) {
    for (int thread = 0; thread < kThreads; ++thread) {
      backend.Happen(thread, 100 * (thread + 1) + static_cast<int64_t>(node));
    }
  };
  CounterPlan plan;
  plan.groups = {{"INS"}};
  plan.instructions_anchor = {0};
  PlannedMetric& instructions = plan.metrics[static_cast<size_t>(Metric::kInstructions)];
  instructions.formula = *ParseFormula("INS");
  instructions.positions = {{0, 0}};
  instructions.quality = Quality::kExact;
  const MeasureOptions options{.threads = kThreads};
  const MeasureHooks hooks;
  CounterPasses passes(workload, clock, backend, plan, options, hooks, omp_get_thread_num);
  const Result<CounterSamples> samples = passes.Run(clock.now_ns);
  ASSERT_TRUE(samples.has_value());
  const auto layers = LayerValues(plan, *samples, 2, Source::kSimulated);
  EXPECT_EQ(layers[0].instructions.value, 600);
  EXPECT_EQ(layers[1].instructions.value, 603);
  EXPECT_EQ(layers[0].instructions.source, Source::kSimulated);
}

TEST(SourceOf, OnlyNamesOfHardwareBackendsAreHardware) {
  EXPECT_EQ(SourceOf({.name = "papi"}), Source::kPapi);
  EXPECT_EQ(SourceOf({.name = "perf_event"}), Source::kPerfEvent);
  for (const char* name : {"simulated", "PAPI", "perf", ""}) {
    EXPECT_EQ(SourceOf({.name = name}), Source::kSimulated) << name;
  }
}

}  // namespace
}  // namespace tinyprof
