// Measures a real session on this host. No time is asserted, only what must hold of any time.
#include "kernels/runtime/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "daemon/counters/event_trials.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/measure/measure.h"
#include "daemon/measure/session_workload.h"
#include "kernels/graph/graph_builder.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Graph TwoLayers() {
  GraphBuilder builder("two", "layers");
  const ValueId x = builder.Input("x", {DType::kFloat32, Shape{4, 64}}, Fill::Uniform(1, 7));
  const ValueId w = builder.Weight("w", Shape{64, 32}, 0.1);
  const ValueId y = builder.Op("MatMul", {x, w});
  const ValueId z = builder.Op("Relu", {y});
  Result<Graph> graph = std::move(builder).Finish({z});
  EXPECT_TRUE(graph.has_value());
  return *std::move(graph);
}

class MeasureSessionTest : public ::testing::Test {
 protected:
  MeasureSessionTest() {
    Result<std::unique_ptr<Session>> session =
        Session::Create(graph_, {.backend = Backend::kReference});
    EXPECT_TRUE(session.has_value());
    session_ = *std::move(session);
    options_.time_budget_ns = 200'000'000;
  }

  Graph graph_ = TwoLayers();
  std::unique_ptr<Session> session_;
  std::unique_ptr<CounterBackend> papi_ = MakePapiBackend(1);
  MeasureOptions options_;
};

// 4 x 64 times 64 x 32 are 8,192 multiply-adds of 2 FLOPs; the weights are 64 x 32 floats.
TEST_F(MeasureSessionTest, WhatLayersCannotDoWithout) {
  const Result<SessionWorkload> workload = SessionWorkload::Create(*session_, false);
  ASSERT_TRUE(workload.has_value());
  EXPECT_EQ(workload->work(0).least_flops_single, 16'384);
  EXPECT_EQ(workload->work(0).least_flops_double, 0);
  EXPECT_EQ(workload->work(0).weight_bytes, 8'192);
  EXPECT_EQ(workload->work(1).least_flops(), 0) << "AMD counts no maxima";
}

TEST(WorkOf, LeavesOutWhatAKernelCanDoWithout) {
  const Cost cost{.flops = {.mac = 900,
                            .bias = 7,
                            .add_mul_div = 20,
                            .minmax = 11,
                            .compare = 5,
                            .transcendental = 13,
                            .reduction = 3},
                  .valid_tap_mac_count = 810,
                  .int_op_count = 99};
  EXPECT_EQ(WorkOf(cost, DType::kFloat32, false).least_flops_single, 2 * 810 + 20 + 3);
  EXPECT_EQ(WorkOf(cost, DType::kFloat64, false).least_flops_double, 2 * 810 + 20 + 3);
  EXPECT_EQ(WorkOf(cost, DType::kFloat64, false).least_flops_single, 0);
  // 64 products for 324.
  EXPECT_EQ(WorkOf(cost, DType::kFloat32, true).least_flops_single, 2 * 160 + 20 + 3);
  for (const DType other : {DType::kInt8, DType::kInt64, DType::kFloat16, DType::kBFloat16}) {
    EXPECT_EQ(WorkOf(cost, other, false).least_flops(), 0);
  }
}

void ExpectConsistent(const RunMeasurement& run) {
  ASSERT_EQ(run.layers.size(), 2U);
  double sum_ns = run.unattributed_ns;
  for (const LayerMeasurement& layer : run.layers) {
    sum_ns += layer.time.median_ns;
    EXPECT_GE(layer.time.min_ns, 0);
    EXPECT_LE(layer.time.ci_low_ns, layer.time.median_ns);
    EXPECT_GE(layer.time.ci_high_ns, layer.time.median_ns);
  }
  EXPECT_NEAR(sum_ns, run.time.median_ns, 1e-6 * run.time.median_ns);
  EXPECT_GT(run.time.median_ns, 0);
  EXPECT_GT(run.read_cost_ns, 0);
  ASSERT_TRUE(run.dispatch_cost.has_value());
  EXPECT_GT(run.dispatch_cost->alone_ns, 0);
  EXPECT_EQ(run.dispatch_cost->team_ns, std::nullopt);
  EXPECT_GE(run.passes.timing, 3);
  EXPECT_GE(run.passes.warmup, 1);
  EXPECT_GT(run.max_resident_bytes, 0);
  EXPECT_TRUE(run.stopped_by == "precision" || run.stopped_by == "budget");
}

TEST_F(MeasureSessionTest, WarmRunIsConsistent) {
  const Result<RunMeasurement> run = Measure(*session_, *papi_, options_, {});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  ExpectConsistent(*run);
  if (OpenHardwareEventErrno() == ENOENT) {
    EXPECT_EQ(run->counter_source, "none");
    EXPECT_THAT(run->totals.flops.reason, StartsWith("NO_PMU: "));
  }
  if (OpenSoftwareEventErrno() == 0) {
    // A warm pass touches no page for the first time.
    ASSERT_TRUE(run->software.page_faults.value.has_value()) << run->software.page_faults.reason;
    EXPECT_LT(*run->software.page_faults.value, 1);
    EXPECT_GT(run->software.task_clock.value.value_or(0), 0);
  }
}

TEST_F(MeasureSessionTest, TheTrustTableComesWithTheCounts) {
  Result<RunMeasurement> run = Measure(*session_, *papi_, options_, {});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_TRUE(run->trust.has_value());
  options_.counters = CounterMode::kNone;
  run = Measure(*session_, *papi_, options_, {});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_FALSE(run->trust.has_value());
}

TEST_F(MeasureSessionTest, CountersThatWereKnownAreRefusedForTheReasonOfNow) {
  if (OpenHardwareEventErrno() == 0) {
    GTEST_SKIP() << "this host has a PMU";
  }
  options_.known_counters = {.backend = "papi", .pmu = papi_->info().pmu, .usable = true};
  const Result<RunMeasurement> run = Measure(*session_, *papi_, options_, {});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->totals.cycles.reason, papi_->info().unusable_reason);
}

TEST_F(MeasureSessionTest, ColdRunIsConsistent) {
  options_.cache = CacheMode::kCold;
  const Result<RunMeasurement> run = Measure(*session_, *papi_, options_, {});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  ExpectConsistent(*run);
}

TEST_F(MeasureSessionTest, PapiIsRefusedWhereThereIsNoPmu) {
  if (OpenHardwareEventErrno() == 0) {
    GTEST_SKIP() << "this host has a PMU";
  }
  options_.counters = CounterMode::kPapi;
  const Result<RunMeasurement> run = Measure(*session_, *papi_, options_, {});
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().reason, "COUNTERS_UNAVAILABLE");
}

TEST_F(MeasureSessionTest, FlushingChangesNoResult) {
  session_->RunAll();
  const auto* output = session_->output(0).As<float>();
  const std::vector<float> before(output, output + 4 * 32);
  Result<SessionWorkload> workload = SessionWorkload::Create(*session_, true);
  ASSERT_TRUE(workload.has_value());
  workload->FlushCaches();
  EXPECT_EQ(std::vector<float>(output, output + 4 * 32), before);
  for (int i = 0; i < 5; ++i) {
    workload->RunNode(0);  // a node may be repeated: its inputs outlive it
  }
  workload->RunNode(1);
  EXPECT_EQ(std::vector<float>(output, output + 4 * 32), before);
}

}  // namespace
}  // namespace tinyprof
