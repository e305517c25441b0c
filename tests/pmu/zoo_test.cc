// Models from end to end without a PMU: the session declares what each layer costs, the stand-in
// counts it, and what Measure reports must be what the analysis says, to the last FLOP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "daemon/counters/papi/papi_backend.h"
#include "daemon/measure/measure.h"
#include "kernels/zoo/analysis.h"
#include "kernels/zoo/model_spec.h"
#include "tests/pmu/pinned_team.h"
#include "tests/pmu/stand_in_script.h"

namespace tinyprof {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  const char* model;
  int threads;
  bool known = false;  // the counters were calibrated before the run
};

// How long no calibration takes: by it a run's trust table is known to be the one that it was
// given.
constexpr double kMark = 1;

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

  MeasureOptions options{
      .threads = GetParam().threads, .counters = CounterMode::kPapi, .time_budget_ns = 100'000'000};
  if (GetParam().known) {
    options.known_counters = ReportCounters(*backend);
    options.known_counters->trust.elapsed_ns = kMark;
  }
  const Result<RunMeasurement> run = Measure(**session, *backend, options, {});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  ASSERT_EQ(run->layers.size(), analysis->layers.size());
  EXPECT_EQ(run->counter_source, "simulated");
  ASSERT_TRUE(run->trust.has_value());
  EXPECT_FALSE(run->trust->rows.empty());
  EXPECT_EQ(run->trust->elapsed_ns == kMark, GetParam().known);
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
                                           Case{"lenet", 2}, Case{"mlp", 1, true},
                                           Case{"lenet", 2, true}),
                         [](const auto& instance) {
                           return std::string(instance.param.model) + "_" +
                                  std::to_string(instance.param.threads) +
                                  (instance.param.known ? "_known" : "");
                         });

// Of this CPU, with the mark; made once.
const CounterReport& KnownReport() {
  static const CounterReport report = [] {
    StandInScript(ForcedCpu()).ApplyAfresh();
    CounterReport counted = ReportCounters(*MakePapiBackend(1));
    counted.trust.elapsed_ns = kMark;
    return counted;
  }();
  return report;
}

// A run of mlp on one thread.
RunMeasurement RunWith(std::optional<CounterReport> known) {
  StandInScript(ForcedCpu()).ApplyAfresh();
  const auto backend = MakePapiBackend(1);
  const Result<Graph> graph = BuildModel({.text = "mlp"});
  EXPECT_TRUE(graph.has_value());
  Result<std::unique_ptr<Session>> session = Session::Create(*graph, {});
  EXPECT_TRUE(session.has_value());
  Result<RunMeasurement> run = Measure(
      **session, *backend, {.time_budget_ns = 100'000'000, .known_counters = std::move(known)}, {});
  EXPECT_TRUE(run.has_value()) << run.error().message;
  return run.has_value() ? *std::move(run) : RunMeasurement{};
}

TEST(KnownCountersTest, ARunCalibratesWhereWhatIsKnownIsOfAnotherPmu) {
  PinTestTeam(1);
  CounterReport known = KnownReport();
  known.pmu = "another";
  const RunMeasurement run = RunWith(std::move(known));
  ASSERT_TRUE(run.trust.has_value());
  EXPECT_GT(run.trust->elapsed_ns, kMark);
  EXPECT_EQ(run.totals.flops.quality, Quality::kExact);
}

TEST(KnownCountersTest, TheCalibrationsPeakOfMemoryIsToldFromTheModels) {
  KnownReport();
  // In processes whose peaks no calibration has raised yet: it walks over more than the caches
  // hold, mlp has half a megabyte.
  EXPECT_TRUE(PassesInChild("NONE", "", [] {
    EXPECT_THAT(RunWith(KnownReport()).warnings, Not(Contains(HasSubstr("were calibrated"))));
  }));
  EXPECT_TRUE(PassesInChild("NONE", "", [] {
    EXPECT_THAT(RunWith(std::nullopt).warnings, Contains(HasSubstr("were calibrated")));
  }));
}

}  // namespace
}  // namespace tinyprof
