// Models from end to end without a PMU: the session declares what each layer costs, the stand-in
// counts it, and what Measure reports must be what the analysis says, to the last FLOP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <numeric>
#include <optional>
#include <utility>

#include "daemon/counters/counter_report.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/measure/measure.h"
#include "daemon/measure/team_counters.h"
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

// Of this CPU, with the mark; made once, in as much time as it takes.
const CounterReport& KnownReport() {
  static const CounterReport report = [] {
    StandInScript(ForcedCpu()).ApplyAfresh();
    CounterReport counted =
        ReportCounters(*MakePapiBackend(1), HostKnownWork(), {.now_ns = [] { return int64_t{0}; }});
    counted.trust.elapsed_ns = kMark;
    return counted;
  }();
  return report;
}

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
    options.known_counters = KnownReport();
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

// By layer and thread.
using Table = std::vector<std::vector<int64_t>>;

// Runs every layer once with a counter on each thread; adds the FLOPs that `flop` counts to
// `counted`, and puts what the threads declared themselves into `declared`.
void CountLayers(Session& session, CounterBackend& backend, const FlopEvent& flop, Table& counted,
                 Table& declared) {
  const size_t team_size = counted[0].size();
  const int threads = static_cast<int>(team_size);
  TeamCounters team(backend, threads);
  const Status opened = team.Open({&flop.event.name, 1});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  std::vector<int64_t> before(team_size);
  std::vector<int64_t> after(team_size);
  std::vector<int64_t> declared_before(team_size);
  std::vector<int64_t> declared_after(team_size);
  const auto ask_threads = [&](std::vector<int64_t>& answers) {
#pragma omp parallel num_threads(threads)
    answers[static_cast<size_t>(omp_get_thread_num())] = DeclaredByThisThread(WorkSignal::kFlops);
  };
  for (size_t layer = 0; layer < session.node_count(); ++layer) {
    ask_threads(declared_before);
    ASSERT_TRUE(team.Read(before).has_value());
    session.RunNode(layer);
    ASSERT_TRUE(team.Read(after).has_value());
    ask_threads(declared_after);
    for (size_t thread = 0; thread < team_size; ++thread) {
      counted[layer][thread] += flop.flops_each * (after[thread] - before[thread]);
      declared[layer][thread] = declared_after[thread] - declared_before[thread];
    }
  }
}

TEST_P(ZooTest, EveryThreadCountsTheFlopsThatItDeclared) {
  StandInScript(ForcedCpu()).ApplyAfresh();
  const int threads = GetParam().threads;
  PinTestTeam(threads);
  const auto backend = MakePapiBackend(threads);
  const Result<Graph> graph = BuildModel({.text = GetParam().model});
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const Result<ModelAnalysis> analysis = Analyze(*graph);
  ASSERT_TRUE(analysis.has_value());
  Result<std::unique_ptr<Session>> session = Session::Create(*graph, {.threads = threads});
  ASSERT_TRUE(session.has_value()) << session.error().message;

  Table counted(graph->nodes.size(), std::vector<int64_t>(static_cast<size_t>(threads)));
  Table declared = counted;
  for (const FlopEvent& flop : ForcedCpu().flops) {
    CountLayers(**session, *backend, flop, counted, declared);
  }
  for (size_t layer = 0; layer < counted.size(); ++layer) {
    SCOPED_TRACE(analysis->layers[layer].name);
    const int64_t flops = analysis->layers[layer].cost->flop_count();
    EXPECT_EQ(counted[layer], declared[layer]);
    EXPECT_EQ(std::accumulate(counted[layer].begin(), counted[layer].end(), int64_t{0}), flops);
    // The threads declare equal shares, so that each of them is seen to count.
    EXPECT_THAT(counted[layer],
                ::testing::Each(::testing::AllOf(::testing::Ge(flops / threads),
                                                 ::testing::Le(flops / threads + 1))));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ZooTest,
                         ::testing::Values(Case{"mlp", 1}, Case{"mlp", 2}, Case{"mlp", 3},
                                           Case{"lenet", 1}, Case{"lenet", 2}, Case{"mlp", 1, true},
                                           Case{"lenet", 2, true}),
                         [](const auto& instance) {
                           return std::string(instance.param.model) + "_" +
                                  std::to_string(instance.param.threads) +
                                  (instance.param.known ? "_known" : "");
                         });

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
  EXPECT_TRUE(run.totals.flops.value.has_value()) << run.totals.flops.reason;
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
