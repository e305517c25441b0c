#include "daemon/measure/measure_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <limits>
#include <numeric>

#include "fake_memory.h"
#include "fake_workload.h"

namespace tinyprof {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

CounterPlan NoPmu() {
  CounterPlan plan;
  plan.unusable_reason = "NO_PMU: none";
  for (PlannedMetric& metric : plan.metrics) {
    metric.reason = plan.unusable_reason;
  }
  return plan;
}

CounterPlan Instructions() {
  CounterPlan plan;
  plan.groups = {{"INS"}};
  plan.instructions_anchor = {0};
  for (PlannedMetric& metric : plan.metrics) {
    metric.reason = "NONE: not in this test";
  }
  PlannedMetric& instructions = plan.metrics[static_cast<size_t>(Metric::kInstructions)];
  instructions = {
      .formula = *ParseFormula("INS"), .positions = {{0, 0}}, .quality = Quality::kExact};
  return plan;
}

class MeasureWorkloadTest : public ::testing::Test {
 protected:
  Result<RunMeasurement> Run(const CounterPlan& plan) { return Run(plan, workload_); }
  Result<RunMeasurement> Run(const CounterPlan& plan, FakeWorkload& workload) {
    SoftwarePlan software;
    software.reasons.fill("NONE: not in this test");
    return MeasureWorkload(workload, clock_,
                           {backend_, plan, std::move(software), {}, memory_, empty_layers_},
                           options_, {});
  }

  FakeClock clock_;
  FakeWorkload workload_{clock_, {50'000, 600, 70'000}};
  FakeBackend backend_;
  MemoryControllers memory_ = NoMemoryControllers();
  Workload* empty_layers_ = nullptr;
  MeasureOptions options_;
};

TEST_F(MeasureWorkloadTest, TimesAddUpToTheWholePass) {
  uint32_t state = 7;
  workload_.extra_ns = [&](size_t node, int) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int64_t>(state >> 28) * static_cast<int64_t>(node + 1) * 10;
  };
  const Result<RunMeasurement> run = Run(NoPmu());
  ASSERT_TRUE(run.has_value());
  double sum_ns = run->unattributed_ns;
  for (const LayerMeasurement& layer : run->layers) {
    sum_ns += layer.time.median_ns;
  }
  EXPECT_DOUBLE_EQ(sum_ns, run->time.median_ns);
  EXPECT_NEAR(run->instrumented_pass_ns, run->time.median_ns, 0.02 * run->time.median_ns);
  EXPECT_THAT(run->warnings, Contains(HasSubstr("1 of 3 layers is shorter than 100 clock reads")));
}

TEST_F(MeasureWorkloadTest, TheBudgetsWarningHasThePrintedIntervals) {
  // Runs 3 to 8 are bare and instrumented in turns: 50, 52, 54 us and 50, 70, 90 us, and the
  // interval of three is their range.
  options_.time_budget_ns = 0;
  FakeWorkload workload(clock_, {50'000});
  const std::map<int, int64_t> extra_ns = {{5, 2'000}, {6, 20'000}, {7, 4'000}, {8, 40'000}};
  workload.extra_ns = [&](size_t, int run) {
    return extra_ns.contains(run) ? extra_ns.at(run) : 0;
  };
  const Result<RunMeasurement> run = Run(NoPmu(), workload);
  ASSERT_TRUE(run.has_value());
  EXPECT_THAT(
      run->warnings,
      Contains(HasSubstr("the precision of 1 % was reached: the median is known to ± 3.8 %, "
                         "that of passes with a clock read at every layer to ± 28.6 %")));
}

// Runs 3 to 8 as above: half of the range of three over their median is the half-width.
TEST_F(MeasureWorkloadTest, TheBudgetsWarningNamesWhatMissedThePrecision) {
  options_.time_budget_ns = 0;
  FakeWorkload workload(clock_, {50'000});
  std::map<int, int64_t> extra_ns;
  workload.extra_ns = [&](size_t, int run) {
    return extra_ns.contains(run) ? extra_ns.at(run) : 0;
  };
  const auto warnings = [&](std::map<int, int64_t> extra) {
    extra_ns = std::move(extra);
    workload.runs.assign(1, 0);
    return Run(NoPmu(), workload)->warnings;
  };
  // 50.0, 50.4, 50.8 us bare: 0.4 / 50.4; 50, 51, 52 us instrumented: 1 / 51.
  EXPECT_THAT(warnings({{5, 400}, {6, 1'000}, {7, 800}, {8, 2'000}}),
              Contains(AllOf(HasSubstr("ended before the layers' times had the precision of 1 %"),
                             HasSubstr("clock read at every layer is known to ± 2.0 %"),
                             HasSubstr("that of bare passes, to ± 0.8 %, had it"))));
  EXPECT_THAT(warnings({{5, 1'000}, {6, 400}, {7, 2'000}, {8, 800}}),
              Contains(AllOf(HasSubstr("ended before the pass's time had the precision of 1 %"),
                             HasSubstr("the median of bare passes is known to ± 2.0 %"),
                             HasSubstr("clock read at every layer, to ± 0.8 %, had it"))));
  // 0.51 / 50.51 is 1.0097 %, which is not the 1 % that was wanted.
  EXPECT_THAT(warnings({{5, 510}, {6, 400}, {7, 1'020}, {8, 800}}),
              Contains(HasSubstr("the median of bare passes is known to ± 1.01 %")));
}

// As many as memory is set aside for, in 10 s of the fake clock.
TEST_F(MeasureWorkloadTest, TheBudgetIsNotBlamedForTheMostPasses) {
  options_.time_budget_ns = 1'000'000'000'000;
  options_.precision = 1e-6;
  FakeWorkload workload(clock_, {50'000});
  uint32_t random = 7;
  workload.extra_ns = [&](size_t, int) {
    random = random * 1664525U + 1013904223U;
    return static_cast<int64_t>(random >> 18);
  };
  const Result<RunMeasurement> run = Run(NoPmu(), workload);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->passes.timing, 100'000);
  EXPECT_THAT(run->warnings,
              Contains(StartsWith("as many passes as a run of this model keeps (100000) were made "
                                  "before the precision of 0.0001 % was reached")));
}

TEST_F(MeasureWorkloadTest, TooFewPassesForThePrecisionAreSaidSo) {
  options_.time_budget_ns = 0;
  const Result<RunMeasurement> run = Run(NoPmu());
  ASSERT_TRUE(run.has_value());
  EXPECT_THAT(run->warnings, Contains(HasSubstr("after 3 passes, too few to know the precision")));
}

TEST_F(MeasureWorkloadTest, StartingALayerTakesWhatEmptyOnesTake) {
  EXPECT_EQ(Run(NoPmu())->dispatch_cost, std::nullopt) << "no empty layers";
  FakeWorkload alone(clock_, {45});
  empty_layers_ = &alone;
  Result<RunMeasurement> run = Run(NoPmu());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->dispatch_cost, (DispatchCost{.alone_ns = 45, .team_ns = std::nullopt}));
  EXPECT_EQ(run->layers.size(), 3U);
  EXPECT_EQ(run->unattributed_ns, 0) << "the pass holds no empty layer";
  FakeWorkload both(clock_, {45, 2'300});
  empty_layers_ = &both;
  run = Run(NoPmu());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->dispatch_cost, (DispatchCost{.alone_ns = 45, .team_ns = 2'300}));
}

TEST_F(MeasureWorkloadTest, AClockThatSeesNoStartGivesNoneButAWarning) {
  FakeWorkload unseen(clock_, {0});
  empty_layers_ = &unseen;
  const Result<RunMeasurement> run = Run(NoPmu());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->dispatch_cost, std::nullopt);
  EXPECT_THAT(run->warnings, Contains(HasSubstr("the clock is too coarse for it")));
}

TEST_F(MeasureWorkloadTest, AutoGoesOnWithoutAPmuAndSaysWhyNothingWasCounted) {
  const Result<RunMeasurement> run = Run(NoPmu());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->counter_source, "none");
  EXPECT_EQ(run->passes.counting, 0);
  EXPECT_EQ(run->counter_read_cost, std::nullopt);
  EXPECT_EQ(run->totals.flops.value, std::nullopt);
  EXPECT_EQ(run->totals.flops.reason, "NO_PMU: none");
  EXPECT_EQ(run->layers[2].counters.cycles.reason, "NO_PMU: none");
  EXPECT_EQ(run->software.page_faults.reason, "NONE: not in this test");
}

TEST_F(MeasureWorkloadTest, PapiThatCannotBeHadIsAnErrorBeforeAnythingRuns) {
  options_.counters = CounterMode::kPapi;
  const Result<RunMeasurement> run = Run(NoPmu());
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(run.error().reason, "COUNTERS_UNAVAILABLE");
  EXPECT_THAT(run.error().message, HasSubstr("NO_PMU: none"));
  EXPECT_EQ(workload_.runs[0], 0);
}

TEST_F(MeasureWorkloadTest, CountsComeWithTheirSource) {
  backend_.events = {"INS"};
  workload_.on_run = [&](size_t) { backend_.Happen(0, "INS", 1234); };
  options_.counters = CounterMode::kPapi;
  Result<RunMeasurement> run = Run(Instructions());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->counter_source, "papi");
  EXPECT_EQ(run->layers[0].counters.instructions.value, 1234);
  EXPECT_EQ(run->totals.instructions.value, 3 * 1234);
  EXPECT_EQ(run->totals.instructions.source, Source::kPapi);
  EXPECT_EQ(run->passes.counting, 5);
  ASSERT_TRUE(run->counter_read_cost.has_value());
  EXPECT_EQ(run->counter_read_cost->event_count, 1);

  backend_.info_.name = "simulated";
  run = Run(Instructions());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->counter_source, "simulated");
  EXPECT_EQ(run->totals.instructions.source, Source::kSimulated);
}

TEST_F(MeasureWorkloadTest, PassesThatWereLostAreToldByReason) {
  backend_.events = {"INS"};
  workload_.on_run = [&](size_t) { backend_.Happen(0, "INS", 1234); };
  for (int64_t read = 0; read < 12; ++read) {
    backend_.failing_reads.insert(read);  // the first read of each attempt
  }
  options_.time_budget_ns = 0;
  const Result<RunMeasurement> run = Run(Instructions());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->passes.discarded_for, (std::map<std::string, int32_t>{{"COUNTERS_LOST", 12}}));
  EXPECT_THAT(run->warnings, Contains(HasSubstr("12 while counting for COUNTERS_LOST")));
  EXPECT_EQ(run->totals.instructions.value, std::nullopt);
}

TEST_F(MeasureWorkloadTest, NoneCountsNothingEvenWhereItCould) {
  backend_.events = {"INS"};
  options_.counters = CounterMode::kNone;
  const Result<RunMeasurement> run = Run(Instructions());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(backend_.groups_opened, 0);
  EXPECT_EQ(run->counter_source, "none");
  EXPECT_THAT(run->totals.instructions.reason, HasSubstr("NOT_ASKED: "));
}

TEST_F(MeasureWorkloadTest, ATinyBudgetMakesThreeOfEachPass) {
  backend_.events = {"INS"};
  workload_.on_run = [&](size_t) { backend_.Happen(0, "INS", 1); };
  options_.time_budget_ns = 0;
  options_.precision = 0.0001;
  const Result<RunMeasurement> run = Run(Instructions());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->passes.warmup, 1);
  EXPECT_EQ(run->passes.timing, 3);
  EXPECT_EQ(run->passes.counting, 3);
  EXPECT_EQ(run->stopped_by, "budget");
}

TEST_F(MeasureWorkloadTest, AllPhasesKeepToTheBudget) {
  backend_.events = {"INS"};
  workload_.on_run = [&](size_t) { backend_.Happen(0, "INS", 1); };
  uint32_t state = 1;
  workload_.extra_ns = [&](size_t, int) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int64_t>(state >> 12);
  };
  options_.precision = 1e-6;
  options_.time_budget_ns = 3'000'000'000;
  const int64_t begin_ns = clock_.now_ns;
  ASSERT_TRUE(Run(Instructions()).has_value());
  EXPECT_LE(clock_.now_ns - begin_ns, 3'000'000'000 + 100'000'000);
}

TEST_F(MeasureWorkloadTest, AModelWithoutLayersHasAReasonForItsAbsentTotals) {
  FakeWorkload empty(clock_, {});
  SoftwarePlan software;
  const CounterPlan plan = NoPmu();
  const Result<RunMeasurement> run = MeasureWorkload(
      empty, clock_, {backend_, plan, std::move(software), {}, memory_}, options_, {});
  ASSERT_TRUE(run.has_value());
  EXPECT_THAT(run->layers, IsEmpty());
  EXPECT_EQ(run->totals.flops.reason, "NO_PMU: none");
  EXPECT_EQ(run->unattributed_ns, 0);
}

CounterPlan MissesOfMemory() {
  CounterPlan plan = Instructions();
  plan.groups[0].emplace_back("MISS");
  Formula formula = *ParseFormula("64*MISS");
  formula.rule.proxy = true;
  plan.metrics[static_cast<size_t>(Metric::kDramBytes)] = {
      .formula = formula, .positions = {{0, 1}}, .quality = Quality::kGood};
  return plan;
}

TEST_F(MeasureWorkloadTest, TotalsTakeTheSocketsCountAndLayersTheEstimate) {
  FakeMemory memory(clock_);
  memory_ = memory.controllers();
  backend_.events = {"INS", "MISS"};
  workload_.on_run = [&](size_t) {
    backend_.Happen(0, "INS", 100);
    backend_.Happen(0, "MISS", 5);
    memory.Move(4, 2);
  };
  const Result<RunMeasurement> run = Run(MissesOfMemory());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->totals.dram_bytes.value, 3 * (4 + 2) * 64);  // of three layers
  EXPECT_EQ(run->totals.dram_bytes.source, Source::kPerfEvent);
  EXPECT_EQ(run->totals.dram_bytes.note, kWholeSocketNote);
  EXPECT_EQ(run->layers[0].counters.dram_bytes.value, 5 * 64);
  EXPECT_EQ(run->layers[0].counters.dram_bytes.source, Source::kPapi);
  EXPECT_EQ(run->counter_source, "papi");
  // Five with core events, the others while the sockets counted.
  EXPECT_GT(run->passes.counting, 5);
}

TEST_F(MeasureWorkloadTest, TheEstimateStaysWhereTheSocketsMayNotBeCounted) {
  FakeMemory memory(clock_);
  memory.kernel.refused_configs = {{0x0304, EACCES}};
  memory_ = memory.controllers();
  backend_.events = {"INS", "MISS"};
  workload_.on_run = [&](size_t node) {
    backend_.Happen(0, "INS", 100 + static_cast<int64_t>(node));
    backend_.Happen(0, "MISS", 5);
  };
  const Result<RunMeasurement> run = Run(MissesOfMemory());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->totals.dram_bytes.value, 3 * 5 * 64);
  EXPECT_EQ(run->totals.dram_bytes.formula, "estimate: 64*MISS");
  EXPECT_EQ(run->totals.dram_bytes.quality, Quality::kGood);
  EXPECT_THAT(run->totals.dram_bytes.reason, IsEmpty());
  EXPECT_THAT(run->totals.dram_bytes.note, StartsWith("PERMISSION: "));
  EXPECT_EQ(run->passes.counting, 5);
}

TEST_F(MeasureWorkloadTest, TheSocketsCountWhereCoresDoNot) {
  FakeMemory memory(clock_);
  memory_ = memory.controllers();
  workload_.on_run = [&](size_t) { memory.Move(4, 2); };
  const Result<RunMeasurement> run = Run(NoPmu());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->totals.dram_bytes.value, 3 * (4 + 2) * 64);
  EXPECT_EQ(run->layers[0].counters.dram_bytes.reason, "NO_PMU: none");
  EXPECT_EQ(run->totals.flops.reason, "NO_PMU: none");
  EXPECT_EQ(run->counter_source, "none");
}

TEST_F(MeasureWorkloadTest, NeitherCountHasBothReasons) {
  const Result<RunMeasurement> run = Run(NoPmu());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->totals.dram_bytes.value, std::nullopt);
  EXPECT_EQ(run->totals.dram_bytes.reason, "NO_PMU: none");
  EXPECT_THAT(run->totals.dram_bytes.note, StartsWith("NO_UNCORE: "));
}

TEST_F(MeasureWorkloadTest, NoneLeavesTheMemoryControllersAlone) {
  FakeMemory memory(clock_);
  memory_ = memory.controllers();
  options_.counters = CounterMode::kNone;
  const Result<RunMeasurement> run = Run(Instructions());
  ASSERT_TRUE(run.has_value());
  EXPECT_THAT(memory.kernel.opened, IsEmpty());
  EXPECT_THAT(run->totals.dram_bytes.reason, StartsWith("NOT_ASKED: "));
  EXPECT_THAT(run->totals.dram_bytes.note, IsEmpty());
}

TEST_F(MeasureWorkloadTest, TheSocketsCountWithinTheBudget) {
  FakeMemory memory(clock_);
  memory_ = memory.controllers();
  uint32_t state = 1;
  workload_.extra_ns = [&](size_t, int) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int64_t>(state >> 12);
  };
  workload_.on_run = [&](size_t) { memory.Move(4, 2); };
  options_.precision = 1e-6;
  options_.time_budget_ns = 3'000'000'000;
  const int64_t begin_ns = clock_.now_ns;
  const Result<RunMeasurement> run = Run(NoPmu());
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->totals.dram_bytes.value, 3 * (4 + 2) * 64);
  EXPECT_LE(clock_.now_ns - begin_ns, 3'000'000'000 + 100'000'000);
}

TEST(CheckOptions, RefusesWhatIsOutOfRange) {
  const auto reason = [](const MeasureOptions& options) {
    const Status status = CheckOptions(options);
    return status.has_value() ? "" : status.error().reason;
  };
  EXPECT_EQ(reason({}), "");
  EXPECT_EQ(reason({.threads = 0}), "BAD_THREADS");
  EXPECT_EQ(reason({.threads = -3}), "BAD_THREADS");
  EXPECT_EQ(reason({.precision = 0}), "BAD_PRECISION");
  EXPECT_EQ(reason({.precision = 1.01}), "BAD_PRECISION");
  EXPECT_EQ(reason({.precision = std::numeric_limits<double>::quiet_NaN()}), "BAD_PRECISION");
  EXPECT_EQ(reason({.time_budget_ns = -1}), "BAD_BUDGET");
  EXPECT_EQ(reason({.time_budget_ns = std::numeric_limits<int64_t>::max()}), "BAD_BUDGET");
}

}  // namespace
}  // namespace tinyprof
