#include "daemon/measure/timing_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fake_workload.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;

SoftwarePlan NoSoftware() {
  SoftwarePlan plan;
  plan.reasons.fill("NONE: not in this test");
  return plan;
}

class TimingPassesTest : public ::testing::Test {
 protected:
  Result<TimingResult> Run(FakeWorkload& workload, SoftwarePlan software = NoSoftware()) {
    SoftwareMonitor monitor(std::move(software), 1);
    TimingPasses passes(workload, empty_layers_, clock_, monitor, preemptions_, options_, hooks_);
    const int64_t now_ns = clock_.now_ns;
    return passes.Run({.warmup_ns = now_ns + budget_ns_ / 10,
                       .rounds_ns = now_ns + budget_ns_ * 6 / 10,
                       .short_layers_ns = now_ns + budget_ns_ * 7 / 10});
  }

  FakeClock clock_;
  MeasureOptions options_;
  MeasureHooks hooks_;
  PreemptionCounter preemptions_;
  Workload* empty_layers_ = nullptr;
  int64_t budget_ns_ = 10 * kSecond;
};

TEST_F(TimingPassesTest, SteadyLayersAreMeasuredToTheNanosecond) {
  FakeWorkload workload(clock_, {50'000, 3'000, 1'000'000});
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->read_cost_ns, 20);
  EXPECT_EQ(result->time.median_ns, 1'053'000);
  EXPECT_EQ(result->instrumented_pass_ns, 1'053'000);
  EXPECT_EQ(result->layers[0].median_ns, 50'000);
  EXPECT_EQ(result->layers[1].median_ns, 3'000);
  EXPECT_EQ(result->layers[2].median_ns, 1'000'000);
  EXPECT_EQ(result->time.mad_ns, 0);
  EXPECT_EQ(result->stopped_by, "precision");
  EXPECT_THAT(result->short_layers, IsEmpty());
  EXPECT_EQ(result->timing, result->time.n);
}

TEST_F(TimingPassesTest, TheFirstPassIsKeptApart) {
  FakeWorkload workload(clock_, {50'000, 70'000});
  workload.extra_ns = [](size_t, int run) { return run == 1 ? 1'000'000 : 0; };
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->time.first_pass_ns, 2'120'000);
  EXPECT_EQ(result->layers[1].first_pass_ns, 1'070'000);
  EXPECT_EQ(result->layers[1].median_ns, 70'000);
  EXPECT_EQ(result->time.outliers, 0);
}

TEST_F(TimingPassesTest, AShortLayerIsMeasuredByRepeating) {
  // 100 reads are 2000 ns. The second layer takes 100 ns when its data are warm, 400 ns in a pass.
  FakeWorkload workload(clock_, {5'000, 100, 5'000});
  int last_node = 0;
  workload.on_run = [&](size_t node) {
    if (node == 1 && last_node != 1) {
      clock_.now_ns += 300;
    }
    last_node = static_cast<int>(node);
  };
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_THAT(result->short_layers, ElementsAre(1U));
  EXPECT_TRUE(result->repeated_short_layers);
  // 2000 / 400 = 5 repeats: one of 400 ns and four of 100 ns.
  EXPECT_EQ(result->layers[1].median_ns, 160);
  EXPECT_EQ(result->layers[0].median_ns, 5'000);
  EXPECT_EQ(result->instrumented_pass_ns, 10'400);
  EXPECT_EQ(result->layers[1].n, 15);
}

TEST_F(TimingPassesTest, EmptyLayersAreTimedAfterTheOthersAndAreNoneOfThem) {
  FakeWorkload workload(clock_, {50'000, 3'000});
  FakeWorkload empty(clock_, {4'500, 2'300});
  empty_layers_ = &empty;
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->empty_layers.size(), 2U);
  EXPECT_EQ(result->empty_layers[0].median_ns, 4'500);
  EXPECT_EQ(result->empty_layers[1].median_ns, 2'300);
  EXPECT_EQ(result->empty_layers[1].n, empty.runs[1]);
  ASSERT_EQ(result->layers.size(), 2U);
  EXPECT_EQ(result->layers[1].median_ns, 3'000);
  EXPECT_EQ(result->time.median_ns, 53'000);
  EXPECT_EQ(result->instrumented_pass_ns, 53'000);
  EXPECT_EQ(result->time.first_pass_ns, 53'000);
  EXPECT_EQ(empty.bare_passes, 0);
  // 4500 + 2300 ns and two reads a round: 731 rounds are the first to fill 5 ms.
  EXPECT_EQ(empty.runs[0], std::min(731, result->timing)) << "once a round";
}

TEST_F(TimingPassesTest, AnEmptyLayerIsRepeatedAsAShortLayerIs) {
  // As in AShortLayerIsMeasuredByRepeating, 400 ns after other layers and 100 ns after itself.
  FakeWorkload workload(clock_, {5'000, 7'000});
  FakeWorkload empty(clock_, {100});
  empty_layers_ = &empty;
  bool after_itself = false;
  workload.on_run = [&](size_t) { after_itself = false; };
  empty.on_run = [&](size_t) {
    if (!after_itself) clock_.now_ns += 300;
    after_itself = true;
  };
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->empty_layers[0].median_ns, 160);
  EXPECT_EQ(result->empty_layers[0].n, 15);
  EXPECT_THAT(result->short_layers, IsEmpty());
  EXPECT_FALSE(result->repeated_short_layers);
  EXPECT_EQ(result->layers[0].median_ns, 5'000);
  EXPECT_EQ(result->layers[0].n, result->timing);
}

TEST_F(TimingPassesTest, ASlowStartIsTimedThreeTimesAndDisturbsNoRound) {
  FakeWorkload workload(clock_, {50'000});
  FakeWorkload empty(clock_, {200'000'000});
  empty_layers_ = &empty;
  int64_t preemptions = 0;
  preemptions_ = [&] { return preemptions; };
  empty.on_run = [&](size_t) { ++preemptions; };
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(empty.runs[0], 3);
  EXPECT_EQ(result->empty_layers[0].median_ns, 200'000'000);
  EXPECT_EQ(result->discarded, 0);
  EXPECT_EQ(result->stopped_by, "precision");
}

TEST_F(TimingPassesTest, AColdRunStartsEmptyLayersColdToo) {
  options_.cache = CacheMode::kCold;
  FakeWorkload workload(clock_, {5'000});
  FakeWorkload empty(clock_, {400});
  empty_layers_ = &empty;
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->empty_layers[0].median_ns, 400);
  EXPECT_EQ(empty.runs[0], std::min(1'000, result->timing));
  EXPECT_EQ(workload.flushes, workload.runs[0]);
}

TEST_F(TimingPassesTest, AColdRunFlushesBeforeEveryPassAndRepeatsNothing) {
  options_.cache = CacheMode::kCold;
  FakeWorkload workload(clock_, {5'000, 100});
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(workload.flushes, workload.runs[0]);
  EXPECT_EQ(workload.runs[0], workload.runs[1]);
  EXPECT_THAT(result->short_layers, ElementsAre(1U));
  EXPECT_FALSE(result->repeated_short_layers);
  EXPECT_EQ(result->time.median_ns, 5'100);
}

TEST_F(TimingPassesTest, NoBudgetStillMakesThreeRounds) {
  budget_ns_ = 0;
  FakeWorkload workload(clock_, {50'000});
  workload.extra_ns = [](size_t, int run) { return int64_t{1000} * run; };
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->warmup, 1);
  EXPECT_EQ(result->timing, 3);
  EXPECT_EQ(result->stopped_by, "budget");
}

TEST_F(TimingPassesTest, APassLongerThanTheBudgetIsMadeThreeTimes) {
  FakeWorkload workload(clock_, {30 * kSecond});
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  // First, one warm-up, three bare and three instrumented ones.
  EXPECT_EQ(workload.runs[0], 8);
  EXPECT_EQ(result->time.median_ns, 30 * kSecond);
}

TEST_F(TimingPassesTest, NoiseIsMeasuredUntilTheBudgetEnds) {
  options_.precision = 1e-4;
  FakeWorkload workload(clock_, {1'000'000});
  uint32_t state = 1;
  workload.extra_ns = [&](size_t, int) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int64_t>(state >> 12);  // up to 1 ms
  };
  const int64_t begin_ns = clock_.now_ns;
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->stopped_by, "budget");
  EXPECT_GT(result->bare_half_width, options_.precision);
  EXPECT_GE(clock_.now_ns - begin_ns, 6 * kSecond);
  EXPECT_LT(clock_.now_ns - begin_ns, 6 * kSecond + 100'000'000);
}

TEST_F(TimingPassesTest, AMigratedPassIsThrownAwayAndCounted) {
  FakeBackend backend;
  backend.events = {"perf::CPU-MIGRATIONS:k=1", "perf::PAGE-FAULTS"};
  SoftwarePlan software = PlanSoftwareEvents(backend, 1);
  ASSERT_EQ(software.backend, &backend);
  FakeWorkload workload(clock_, {50'000});
  workload.on_run = [&](size_t) {
    backend.Happen(0, "perf::PAGE-FAULTS", 2);
    // The 8th run is in a bare pass: first, warm-up of three, then pairs.
    if (workload.runs[0] % 100 == 7) {
      backend.Happen(0, "perf::CPU-MIGRATIONS:k=1", 1);
    }
  };
  SoftwareMonitor monitor(std::move(software), 1);
  budget_ns_ = 0;
  options_.precision = 1;
  TimingPasses passes(workload, nullptr, clock_, monitor, preemptions_, options_, hooks_);
  const Result<TimingResult> result = passes.Run({});
  ASSERT_TRUE(result.has_value());
  // Without a budget: first, one warm-up, so bare passes are runs 3, 5, 7 (thrown away), 9.
  EXPECT_EQ(result->discarded, 1);
  EXPECT_EQ(result->timing, 3);
  const SoftwareEvents events = monitor.Summary();
  EXPECT_EQ(events.page_faults.value, 2);
  EXPECT_EQ(events.migrations.value, 0);
  EXPECT_EQ(events.task_clock.value, std::nullopt);
  EXPECT_EQ(events.task_clock.reason, "EVENT_NOT_ON_CPU: no perf::TASK-CLOCK");
}

TEST_F(TimingPassesTest, WhatReadingTakesIsNoCpuTimeOfThePass) {
  FakeBackend backend;
  backend.events = {"perf::TASK-CLOCK"};
  backend.read_cost = 700;
  FakeWorkload workload(clock_, {5'000});
  workload.on_run = [&](size_t) { backend.Happen(0, "perf::TASK-CLOCK", 5'000); };
  SoftwareMonitor monitor(PlanSoftwareEvents(backend, 1), 1);
  budget_ns_ = 0;
  TimingPasses passes(workload, nullptr, clock_, monitor, preemptions_, options_, hooks_);
  ASSERT_TRUE(passes.Run({}).has_value());
  EXPECT_EQ(monitor.Summary().task_clock.value, 5'000);
}

TEST_F(TimingPassesTest, RoundsThatWerePreemptedAreThrownAwayWhileThereAreQuietOnes) {
  FakeWorkload workload(clock_, {50'000});
  int64_t preempted = 0;
  preemptions_ = [&] { return preempted; };
  workload.extra_ns = [&](size_t, int run) {
    if (run % 10 != 0) {
      return 0;
    }
    ++preempted;
    return 12'000'000;
  };
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_FALSE(result->never_quiet);
  EXPECT_GT(result->discarded, 0);
  EXPECT_EQ(result->time.median_ns, 50'000);
  EXPECT_EQ(result->time.ci_high_ns, 50'000);
  EXPECT_EQ(result->time.outliers, 0);
  EXPECT_EQ(result->instrumented_pass_ns, 50'000);
}

TEST_F(TimingPassesTest, OnAMachineThatIsNeverQuietEveryRoundIsKept) {
  FakeWorkload workload(clock_, {50'000});
  int64_t preempted = 0;
  preemptions_ = [&] { return ++preempted; };
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->never_quiet);
  EXPECT_EQ(result->discarded, 0);
  EXPECT_GE(result->timing, 5);
  EXPECT_EQ(result->time.median_ns, 50'000);
}

TEST_F(TimingPassesTest, CancelEndsTheRunBetweenPasses) {
  FakeWorkload workload(clock_, {50'000, 50'000});
  hooks_.cancelled = [&] { return workload.bare_passes >= 7; };
  const Result<TimingResult> result = Run(workload);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(workload.bare_passes, 7);
  EXPECT_EQ(workload.runs[0], workload.runs[1]);
}

TEST_F(TimingPassesTest, EveryLayerIsAnnouncedOnceBeforeItFirstRuns) {
  FakeWorkload workload(clock_, {50'000, 60'000});
  std::vector<size_t> entered;
  hooks_.entering_layer_first_time = [&](size_t node) {
    EXPECT_EQ(workload.runs[node], 0);
    entered.push_back(node);
  };
  ASSERT_TRUE(Run(workload).has_value());
  EXPECT_THAT(entered, ElementsAre(0U, 1U));
}

TEST_F(TimingPassesTest, ProgressIsToldInOrder) {
  FakeWorkload workload(clock_, {40'000'000});
  std::vector<std::string> phases;
  hooks_.progress = [&](const ProgressUpdate& update) {
    if (phases.empty() || phases.back() != update.phase) {
      phases.emplace_back(update.phase);
    }
    EXPECT_GE(update.precision_reached, 0);
    EXPECT_LE(update.precision_reached, 1);
  };
  ASSERT_TRUE(Run(workload).has_value());
  EXPECT_THAT(phases, ElementsAre("warm-up", "timing"));
}

TEST_F(TimingPassesTest, AModelWithoutLayersTakesNoTime) {
  FakeWorkload workload(clock_, {});
  budget_ns_ = 1'000'000;
  const Result<TimingResult> result = Run(workload);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->time.median_ns, 0);
  EXPECT_EQ(result->time.first_pass_ns, 0);
  EXPECT_THAT(result->layers, IsEmpty());
}

}  // namespace
}  // namespace tinyprof
