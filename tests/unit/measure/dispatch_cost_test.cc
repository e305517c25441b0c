#include "daemon/measure/dispatch_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/measure/empty_layers.h"
#include "daemon/measure/measure_workload.h"
#include "fake_memory.h"
#include "fake_workload.h"

namespace tinyprof {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr double kReadCostNs = 20;  // of FakeClock

TEST(MeasureDispatchCost, IsTheTimeOfTheEmptyLayerToTheNanosecond) {
  FakeClock clock;
  FakeWorkload empty(clock, {45});
  const Result<DispatchCost> cost = MeasureDispatchCost(empty, clock, kReadCostNs, {});
  ASSERT_TRUE(cost.has_value()) << cost.error().message;
  EXPECT_EQ(*cost, (DispatchCost{.alone_ns = 45, .team_ns = std::nullopt}));
}

TEST(MeasureDispatchCost, TheTeamsStartIsTheSecondLayers) {
  FakeClock clock;
  FakeWorkload empty(clock, {45, 2'300});
  const Result<DispatchCost> cost = MeasureDispatchCost(empty, clock, kReadCostNs, {});
  ASSERT_TRUE(cost.has_value()) << cost.error().message;
  EXPECT_EQ(*cost, (DispatchCost{.alone_ns = 45, .team_ns = 2'300}));
}

// 2000 ns, 100 reads, are 64 repeats of 45 ns; of 21 batches ten hold a pause.
TEST(MeasureDispatchCost, PausesOfLessThanHalfOfTheBatchesDoNotMove) {
  FakeClock clock;
  FakeWorkload empty(clock, {45});
  empty.extra_ns = [](size_t, int run) { return run % 128 == 64 ? 30'000 : 0; };
  const Result<DispatchCost> cost = MeasureDispatchCost(empty, clock, kReadCostNs, {});
  ASSERT_TRUE(cost.has_value()) << cost.error().message;
  EXPECT_EQ(cost->alone_ns, 45);
}

TEST(MeasureDispatchCost, ASlowStartEndsAtItsBudget) {
  FakeClock clock;
  FakeWorkload empty(clock, {4'000'000});
  const int64_t begin_ns = clock.now_ns;
  ASSERT_TRUE(MeasureDispatchCost(empty, clock, kReadCostNs, {}).has_value());
  // One to find the number of repeats, and the three least.
  EXPECT_EQ(empty.runs[0], 4);
  EXPECT_LT(clock.now_ns - begin_ns, 4 * 4'000'000 + kDispatchBudgetNs);
}

TEST(MeasureDispatchCost, AClockThatSeesNothingHasNoCost) {
  FakeClock clock;
  FakeWorkload empty(clock, {0});
  const Result<DispatchCost> cost = MeasureDispatchCost(empty, clock, kReadCostNs, {});
  ASSERT_FALSE(cost.has_value());
  EXPECT_EQ(cost.error().reason, "NO_DISPATCH_TIME");
}

TEST(MeasureDispatchCost, IsCancelled) {
  FakeClock clock;
  FakeWorkload empty(clock, {45});
  MeasureHooks hooks;
  hooks.cancelled = [] { return true; };
  const Result<DispatchCost> cost = MeasureDispatchCost(empty, clock, kReadCostNs, hooks);
  ASSERT_FALSE(cost.has_value());
  EXPECT_EQ(cost.error().code, ErrorCode::kCancelled);
}

class DispatchCostOfARun : public ::testing::Test {
 protected:
  Result<RunMeasurement> Run(Workload* empty) {
    CounterPlan plan;
    plan.unusable_reason = "NO_PMU: none";
    return MeasureWorkload(workload_, clock_,
                           {.counters = backend_,
                            .plan = plan,
                            .software = {},
                            .preemptions = {},
                            .memory = NoMemoryControllers(),
                            .empty_layers = empty},
                           {.counters = CounterMode::kNone}, hooks_);
  }

  FakeClock clock_;
  FakeWorkload workload_{clock_, {50'000}};
  FakeBackend backend_;
  MeasureHooks hooks_;
};

TEST_F(DispatchCostOfARun, IsInItsResult) {
  FakeWorkload empty(clock_, {45});
  const Result<RunMeasurement> run = Run(&empty);
  ASSERT_TRUE(run.has_value()) << run.error().message;
  ASSERT_TRUE(run->dispatch_cost.has_value());
  EXPECT_EQ(run->dispatch_cost->alone_ns, 45);
}

TEST_F(DispatchCostOfARun, IsAbsentWithAWarning) {
  FakeWorkload empty(clock_, {0});
  const Result<RunMeasurement> run = Run(&empty);
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->dispatch_cost, std::nullopt);
  EXPECT_THAT(run->warnings, Contains(HasSubstr("the clock is too coarse")));
}

TEST_F(DispatchCostOfARun, CancelsIt) {
  FakeWorkload empty(clock_, {45});
  hooks_.cancelled = [&] { return empty.runs[0] > 0; };
  const Result<RunMeasurement> run = Run(&empty);
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::kCancelled);
}

TEST(EmptyLayers, HaveASecondLayerForATeam) {
  for (const Backend backend : {Backend::kReference, Backend::kEigen}) {
    auto one = EmptyLayers::Create({.backend = backend, .threads = 1});
    ASSERT_TRUE(one.has_value()) << one.error().message;
    EXPECT_EQ((*one)->node_count(), 1U);
    auto two = EmptyLayers::Create({.backend = backend, .threads = 2});
    ASSERT_TRUE(two.has_value()) << two.error().message;
    EXPECT_EQ((*two)->node_count(), 2U);
    (*two)->RunAll();
    const Result<DispatchCost> cost = MeasureDispatchCost(**two, MonotonicClock(), 20, {});
    ASSERT_TRUE(cost.has_value()) << cost.error().message;
    EXPECT_GT(cost->alone_ns, 0);
    EXPECT_GT(cost->team_ns.value_or(0), 0);
  }
}

TEST(EmptyLayers, CannotBeOfNoThreads) {
  const auto none = EmptyLayers::Create({.threads = 0});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().reason, "BAD_THREADS");
}

}  // namespace
}  // namespace tinyprof
