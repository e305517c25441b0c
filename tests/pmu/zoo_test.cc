// Models from end to end without a PMU: the session declares what each layer costs, the stand-in
// counts it, and what Measure reports must be what the analysis says, to the last FLOP.
#include <gtest/gtest.h>

#include "daemon/counters/papi/papi_backend.h"
#include "daemon/measure/measure.h"
#include "kernels/zoo/analysis.h"
#include "kernels/zoo/model_spec.h"
#include "tests/pmu/pinned_team.h"
#include "tests/pmu/stand_in_script.h"

namespace tinyprof {
namespace {

struct Case {
  const char* model;
  int threads;
};

class ZooTest : public ::testing::TestWithParam<Case> {};

TEST_P(ZooTest, HardwareFlopsOfEveryLayerAreTheAnalyticOnes) {
  StandInScript(ForcedCpu()).ApplyAfresh();
  PinTestTeam(GetParam().threads);
  const auto backend = MakePapiBackend(GetParam().threads);
  const Result<Graph> graph = BuildModel({.text = GetParam().model});
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const Result<ModelAnalysis> analysis = Analyze(*graph);
  ASSERT_TRUE(analysis.has_value());
  Result<std::unique_ptr<Session>> session =
      Session::Create(*graph, {.threads = GetParam().threads});
  ASSERT_TRUE(session.has_value()) << session.error().message;

  const MeasureOptions options{
      .threads = GetParam().threads, .counters = CounterMode::kPapi, .time_budget_ns = 100'000'000};
  const Result<RunMeasurement> run = Measure(**session, *backend, options, {});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  ASSERT_EQ(run->layers.size(), analysis->layers.size());
  EXPECT_EQ(run->counter_source, "simulated");
  for (size_t layer = 0; layer < run->layers.size(); ++layer) {
    SCOPED_TRACE(analysis->layers[layer].name);
    const Quantity& flops = run->layers[layer].counters.flops;
    ASSERT_TRUE(flops.value.has_value()) << flops.reason;
    EXPECT_EQ(*flops.value, static_cast<double>(analysis->layers[layer].cost->flop_count()));
    EXPECT_EQ(flops.source, Source::kSimulated);
    EXPECT_EQ(flops.quality, Quality::kExact);
    EXPECT_GT(run->layers[layer].counters.instructions.value.value_or(0), 0);
  }
  ASSERT_TRUE(run->totals.flops.value.has_value()) << run->totals.flops.reason;
  EXPECT_EQ(*run->totals.flops.value, static_cast<double>(analysis->totals.flop_count()));
  EXPECT_GT(*run->totals.flops.value, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, ZooTest,
                         ::testing::Values(Case{"mlp", 1}, Case{"mlp", 2}, Case{"lenet", 1},
                                           Case{"lenet", 2}),
                         [](const auto& instance) {
                           return std::string(instance.param.model) + "_" +
                                  std::to_string(instance.param.threads);
                         });

}  // namespace
}  // namespace tinyprof
