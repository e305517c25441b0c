// Two runs against each other: ratios and intervals by hand, what is matched with what, what is
// printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/render/comparison.h"
#include "client/render/comparison_report.h"
#include "tests/unit/client/flow_fixture.h"

namespace tinyprof::client {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

void SetTime(double median_ns, double half_width_ns, v1::TimeStats& time) {
  time.set_median_ns(median_ns);
  time.set_ci_low_ns(median_ns - half_width_ns);
  time.set_ci_high_ns(median_ns + half_width_ns);
}

// The fixture's run, whose layers are "fc" and one with a quote in its name; times in ns.
v1::Run RunOf(double pass_ns, double first_ns, double second_ns, double half_width_ns) {
  v1::Run run = SucceededRun();
  v1::RunReport& report = *run.mutable_report();
  SetTime(pass_ns, half_width_ns, *report.mutable_time());
  SetTime(first_ns, half_width_ns, *report.mutable_layers(0)->mutable_time());
  SetTime(second_ns, half_width_ns, *report.mutable_layers(1)->mutable_time());
  return run;
}

std::string SecondName() { return SucceededRun().report().layers(1).analysis().name(); }

// One layer that stands for both of the fixture's.
v1::Run FusedRun(double layer_ns) {
  v1::Run run = RunOf(layer_ns, layer_ns, 0, 100);
  run.mutable_report()->mutable_layers()->DeleteSubrange(1, 1);
  v1::LayerAnalysis& analysis = *run.mutable_report()->mutable_layers(0)->mutable_analysis();
  analysis.add_fused("fc");
  analysis.add_fused(SecondName());
  return run;
}

// One run a side.
Comparison CompareRuns(const v1::Run& a, const v1::Run& b, double tolerance) {
  return client::CompareRuns({&a, 1}, {&b, 1}, tolerance);
}

// Passes of these medians, with an interval that says nothing; the layers take a half each.
std::vector<v1::Run> Runs(const std::string& prefix, const std::vector<double>& medians_ns) {
  std::vector<v1::Run> runs;
  for (const double median_ns : medians_ns) {
    runs.push_back(RunOf(median_ns, median_ns / 2, median_ns / 2, 1));
    runs.back().set_id(prefix + std::to_string(runs.size()));
  }
  return runs;
}

TEST(CompareRuns, TheIntervalHoldsEveryRatioWithinBoth) {
  // 4000 +- 400 against 2000 +- 400: from 3600 / 2400 to 4400 / 1600.
  const Comparison faster =
      CompareRuns(RunOf(4000, 3000, 1000, 400), RunOf(2000, 1500, 500, 400), 0.01);
  EXPECT_EQ(faster.verdict, Verdict::kFaster);
  EXPECT_DOUBLE_EQ(faster.pass.value, 2);
  EXPECT_DOUBLE_EQ(faster.pass.ci_low, 1.5);
  EXPECT_DOUBLE_EQ(faster.pass.ci_high, 2.75);
  ASSERT_EQ(faster.layers.size(), 2U);
  EXPECT_DOUBLE_EQ(faster.layers[0].speedup.value, 2);
  EXPECT_TRUE(faster.layers[0].speedup.significant);
  // 1000 +- 400 against 500 +- 400: from 600 / 900.
  EXPECT_FALSE(faster.layers[1].speedup.significant);

  const Comparison slower =
      CompareRuns(RunOf(2000, 1500, 500, 400), RunOf(4000, 3000, 1000, 400), 0.01);
  EXPECT_EQ(slower.verdict, Verdict::kSlower);
  EXPECT_DOUBLE_EQ(slower.pass.value, 0.5);
}

TEST(CompareRuns, NoiseIsNoDifference) {
  const v1::Run a = RunOf(4000, 3000, 1000, 100);
  EXPECT_EQ(CompareRuns(a, RunOf(3850, 2900, 950, 100), 0).verdict, Verdict::kNoDifference);
  EXPECT_EQ(CompareRuns(a, a, 0).verdict, Verdict::kNoDifference);
}

TEST(CompareRuns, TheToleranceIsBesideTheIntervals) {
  const v1::Run a = RunOf(4000, 3000, 1000, 1);
  const v1::Run b = RunOf(4100, 3000, 1100, 1);
  EXPECT_EQ(CompareRuns(a, b, 0.02).verdict, Verdict::kSlower);
  EXPECT_EQ(CompareRuns(a, b, 0.03).verdict, Verdict::kNoDifference);
  EXPECT_EQ(CompareRuns(b, a, 0.02).verdict, Verdict::kFaster);
  EXPECT_EQ(CompareRuns(b, a, 0.03).verdict, Verdict::kNoDifference);
}

TEST(CompareRuns, AFusedLayerStandsAgainstItsNodes) {
  const v1::Run apart = RunOf(4000, 3000, 1000, 100);
  const Comparison fused = CompareRuns(apart, FusedRun(2000), 0.01);
  ASSERT_EQ(fused.layers.size(), 1U);
  EXPECT_EQ(fused.layers[0].name, "fc+" + SecondName());
  EXPECT_DOUBLE_EQ(fused.layers[0].a_ns, 4000);
  // 3800 / 2100 to 4200 / 1900.
  EXPECT_DOUBLE_EQ(fused.layers[0].speedup.ci_low, 3800.0 / 2100);
  EXPECT_DOUBLE_EQ(fused.layers[0].speedup.value, 2);
  EXPECT_THAT(fused.only_a.names, IsEmpty());

  const Comparison taken_apart = CompareRuns(FusedRun(2000), apart, 0.01);
  ASSERT_EQ(taken_apart.layers.size(), 1U);
  EXPECT_DOUBLE_EQ(taken_apart.layers[0].b_ns, 4000);
  EXPECT_DOUBLE_EQ(taken_apart.layers[0].speedup.value, 0.5);
  EXPECT_THAT(taken_apart.only_b.names, IsEmpty());
}

// Layers by name, each of `layer_ns`, with what it stands for and what was fused into it.
struct FakeLayer {
  const char* name;
  std::vector<std::string> stands_for;
  std::vector<std::string> fused;
};
v1::Run RunOfLayers(const std::vector<FakeLayer>& layers, double layer_ns) {
  v1::Run run = RunOf(layer_ns * static_cast<double>(layers.size()), 0, 0, 1);
  run.mutable_report()->clear_layers();
  for (const FakeLayer& fake : layers) {
    v1::LayerReport& layer = *run.mutable_report()->add_layers();
    SetTime(layer_ns, 1, *layer.mutable_time());
    layer.mutable_analysis()->set_name(fake.name);
    layer.mutable_analysis()->mutable_stands_for()->Assign(fake.stands_for.begin(),
                                                           fake.stands_for.end());
    layer.mutable_analysis()->mutable_fused()->Assign(fake.fused.begin(), fake.fused.end());
  }
  return run;
}

std::vector<std::string> NamesOf(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const LayerComparison& layer : comparison.layers) names.push_back(layer.name);
  return names;
}

v1::Run QuantizedRun() {
  return RunOfLayers({{"input_QuantizeLinear", {}, {}},
                      {"conv1", {"conv1", "bn1", "relu"}, {}},
                      {"pool", {}, {}},
                      {"fc", {}, {}},
                      {"fc_product_DequantizeLinear", {}, {}},
                      {"fc_bias", {"fc"}, {}}},
                     100);
}

TEST(CompareRuns, AQuantizedLayerStandsAgainstTheFloatOnesItCameFrom) {
  const v1::Run apart = RunOfLayers(
      {{"conv1", {}, {}}, {"bn1", {}, {}}, {"relu", {}, {}}, {"pool", {}, {}}, {"fc", {}, {}}},
      100);
  const v1::Run fused =
      RunOfLayers({{"conv1", {}, {"conv1", "bn1", "relu"}}, {"pool", {}, {}}, {"fc", {}, {}}}, 100);
  for (const v1::Run* with_floats : {&apart, &fused}) {
    const Comparison comparison = CompareRuns(*with_floats, QuantizedRun(), 0);
    EXPECT_THAT(NamesOf(comparison), ElementsAre("conv1+bn1+relu", "pool", "fc"));
    EXPECT_THAT(comparison.only_a.names, IsEmpty());
    EXPECT_THAT(comparison.only_b.names,
                ElementsAre("input_QuantizeLinear", "fc_product_DequantizeLinear"));
    // Three layers or a fused one against one, and one against a product and its bias.
    EXPECT_DOUBLE_EQ(comparison.layers[0].a_ns, with_floats == &apart ? 300 : 100);
    EXPECT_DOUBLE_EQ(comparison.layers[0].b_ns, 100);
    EXPECT_DOUBLE_EQ(comparison.layers[2].b_ns, 200);
    EXPECT_DOUBLE_EQ(comparison.layers[2].speedup.value, 0.5);
  }
}

TEST(CompareRuns, LayersThatOverlapOnlyInPartAreNoMatch) {
  const Comparison comparison =
      CompareRuns(RunOfLayers({{"conv1", {}, {"conv1", "bn1"}}, {"relu", {}, {}}}, 100),
                  RunOfLayers({{"conv1", {}, {}}, {"relu", {}, {}}}, 100), 0);
  EXPECT_THAT(NamesOf(comparison), ElementsAre("relu"));
  EXPECT_THAT(comparison.only_a.names, ElementsAre("conv1+bn1"));
  EXPECT_THAT(comparison.only_b.names, ElementsAre("conv1"));
}

TEST(CompareRuns, TwoWaysOfFusingMeetWhereTheyEnd) {
  const Comparison comparison =
      CompareRuns(RunOfLayers({{"a", {}, {"a", "b"}}, {"c", {}, {}}}, 100),
                  RunOfLayers({{"a", {}, {}}, {"b", {}, {"b", "c"}}}, 100), 0);
  EXPECT_THAT(NamesOf(comparison), ElementsAre("a+b+c"));
  EXPECT_DOUBLE_EQ(comparison.layers[0].a_ns, 200);
  EXPECT_DOUBLE_EQ(comparison.layers[0].b_ns, 200);
}

TEST(CompareRuns, LayersOfOneRunOnlyAreTold) {
  v1::Run b = RunOf(4000, 3000, 1000, 100);
  b.mutable_report()->mutable_layers(1)->mutable_analysis()->set_name("fc_QuantizeLinear");
  const Comparison comparison = CompareRuns(RunOf(4000, 3000, 1000, 100), b, 0.01);
  EXPECT_EQ(comparison.layers.size(), 1U);
  EXPECT_THAT(comparison.only_a.names, ElementsAre(SecondName()));
  EXPECT_THAT(comparison.only_b.names, ElementsAre("fc_QuantizeLinear"));
  EXPECT_DOUBLE_EQ(comparison.only_b.typical_ns, 1000);
}

TEST(CompareRuns, WhatSpeaksAgainstItIsTold) {
  const v1::Run a = RunOf(4000, 3000, 1000, 100);
  EXPECT_THAT(CompareRuns(a, a, 0).warnings, IsEmpty());
  v1::Run b = a;
  v1::RunReport& report = *b.mutable_report();
  report.mutable_host()->set_fingerprint("another");
  report.mutable_host()->set_cpu("Other CPU");
  report.set_isa("avx512");
  report.mutable_analysis()->set_name("large");
  report.set_threads(2);
  report.set_cache("cold");
  report.mutable_analysis()->mutable_inputs(0)->set_shape(0, 3);
  report.mutable_machine()->set_clock_hz(2e9);
  EXPECT_THAT(CompareRuns(a, b, 0).warnings,
              ElementsAre("the machines differ: Test CPU and Other CPU",
                          "the models differ: tiny and large",
                          "the instruction sets differ: avx2 and avx512",
                          "the threads differ: 1 thread and 2 threads",
                          "the caches at the start of a pass differ: warm and cold",
                          "the shapes of the inputs differ: 2x4 and 3x4",
                          "the core's clock was 3.00 GHz and 2.00 GHz"));
}

TEST(CompareRuns, AQuantizedModelIsNoOtherModel) {
  const v1::Run a = RunOf(4000, 3000, 1000, 100);
  v1::Run b = a;
  v1::ModelAnalysis& analysis = *b.mutable_report()->mutable_analysis();
  analysis.set_name("tiny-int8");
  analysis.mutable_quantization()->set_quantized_from("tiny");
  EXPECT_THAT(CompareRuns(a, b, 0).warnings, IsEmpty());
}

TEST(CompareRuns, CoresThatWereNearAndFarAreTold) {
  v1::Run near = RunOf(4000, 3000, 1000, 100);
  v1::Run far = near;
  near.mutable_report()->mutable_machine()->set_ping_pong_after_ns(55);
  far.mutable_report()->mutable_machine()->set_ping_pong_after_ns(340);
  EXPECT_THAT(CompareRuns(near, far, 0).warnings,
              ElementsAre(HasSubstr("another distance: 55 ns and 340 ns")));
}

TEST(CompareRuns, OfSeveralRunsTheIntervalIsStudents) {
  // Logarithms -0.1, 0, 0.1 and 0.1, 0.2, 0.3 beside log(1000): means 0.2 apart, a variance of 0.01
  // each, four degrees of freedom: 2.776 * sqrt(0.01 * 2 / 3) = 0.22666.
  std::vector<v1::Run> a = Runs("a", {1000 * std::exp(-0.1), 1000, 1000 * std::exp(0.1)});
  const std::vector<v1::Run> b =
      Runs("b", {1000 * std::exp(0.1), 1000 * std::exp(0.2), 1000 * std::exp(0.3)});
  const Comparison comparison = client::CompareRuns(a, b, 0.01);
  EXPECT_NEAR(comparison.pass.value, std::exp(-0.2), 1e-12);
  EXPECT_NEAR(comparison.pass.ci_low, std::exp(-0.2 - 0.22666), 1e-5);
  EXPECT_NEAR(comparison.pass.ci_high, std::exp(-0.2 + 0.22666), 1e-5);
  EXPECT_EQ(comparison.verdict, Verdict::kNoDifference) << "each run alone is slower by far";
  EXPECT_EQ(CompareRuns(a[1], b[1], 0.1).verdict, Verdict::kSlower);
  EXPECT_THAT(comparison.note, IsEmpty());
  ASSERT_EQ(comparison.layers.size(), 2U);
  EXPECT_NEAR(comparison.layers[0].a_ns, 500, 1e-9);
  EXPECT_FALSE(comparison.layers[0].speedup.significant);
  // One against three: two degrees of freedom, 4.303 * sqrt(0.01 * 4 / 3) = 0.49687.
  const Comparison one = client::CompareRuns({&a[1], 1}, b, 0.01);
  EXPECT_NEAR(one.pass.ci_high, std::exp(-0.2 + 0.49687), 1e-5);
}

TEST(CompareRuns, SeveralRunsThatAgreeTellASmallDifference) {
  EXPECT_EQ(client::CompareRuns(Runs("a", {1000, 1001, 999}), Runs("b", {1030, 1031, 1029}), 0.01)
                .verdict,
            Verdict::kSlower);
  EXPECT_EQ(DefaultTolerance(3, 3), 0.01);
  EXPECT_EQ(DefaultTolerance(1, 1), 0.1);
}

TEST(CompareRuns, RunsThatWereNotInTurnsAreTold) {
  std::vector<v1::Run> a = Runs("a", {1000, 1000});
  std::vector<v1::Run> b = Runs("b", {1000, 1000});
  const auto start = [](v1::Run& run, int64_t second) {
    run.mutable_start_time()->set_seconds(second);
  };
  start(a[0], 10);
  start(a[1], 20);
  start(b[0], 30);
  start(b[1], 40);
  EXPECT_THAT(client::CompareRuns(a, b, 0).warnings,
              ElementsAre(HasSubstr("all runs of A came before those of B")));
  EXPECT_THAT(client::CompareRuns(b, a, 0).warnings,
              ElementsAre(HasSubstr("all runs of B came before those of A")));
  start(b[0], 15);
  EXPECT_THAT(client::CompareRuns(a, b, 0).warnings, IsEmpty());
}

TEST(CheckSide, IsOfRunsOfTheSameWorkEachOnce) {
  std::vector<v1::Run> runs = Runs("a", {1000, 1100});
  EXPECT_TRUE(CheckSide(runs).has_value());
  runs[1].mutable_report()->set_threads(2);
  const Status other = CheckSide(runs);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().message,
            "runs a1 and a2 cannot stand on one side: the threads differ: 1 thread and 2 threads");
  runs[1] = Runs("b", {1000})[0];
  runs[1].mutable_report()->mutable_layers()->DeleteSubrange(1, 1);
  EXPECT_EQ(CheckSide(runs).error().reason, "RUNS_DIFFER");
  runs[1] = Runs("b", {1000})[0];
  runs[1].mutable_spec()->set_conv_algorithm(v1::CONV_ALGORITHM_WINOGRAD);
  EXPECT_THAT(CheckSide(runs).error().message, HasSubstr("the algorithms of convolutions differ"));
  runs[1] = runs[0];
  EXPECT_EQ(CheckSide(runs).error().reason, "RUN_TWICE");
}

TEST(ComparisonText, IsTheWrittenPage) {
  const v1::Run a = RunOf(4000, 3000, 1000, 400);
  v1::Run b = RunOf(2000, 1500, 500, 400);
  b.set_id("r-2");
  b.mutable_report()->mutable_layers(1)->mutable_analysis()->set_name("other");
  b.mutable_report()->set_threads(2);
  EXPECT_EQ(ComparisonText({&a, 1}, {&b, 1}, CompareRuns(a, b, 0.01), {}),
            R"(A  tiny: 2x4, 4.00 µs a pass, 60 B of parameters
   eigen, avx2, 1 thread (CPU 1), warm cache, 50 passes (precision reached); run r-1
B  tiny: 2x4, 2.00 µs a pass, 60 B of parameters
   eigen, avx2, 2 threads (CPU 1), warm cache, 50 passes (precision reached); run r-2
B is faster: 2.000 times as fast as A (1.500 to 2.750)

layer  op    A µs  B µs  times as fast  from    to
fc     Gemm  3.00  1.50           2.00  1.37  3.09

only in A: 1 layer, 1.00 µs of its pass (odd "one",\n)
only in B: 1 layer, 500 ns of its pass (other)
note: one run a side does not show what a machine changes between runs, so that differences up to 1 % are taken for none; give several, measured in turns (`compare A1,A2,A3 B1,B2,B3`)
warning: the threads differ: 1 thread and 2 threads
warning: A and B: the clock is not fixed
)");
}

TEST(ComparisonText, HasTheWarningsOfBothRuns) {
  v1::Run a = RunOf(4000, 3000, 1000, 400);
  v1::Run b = a;
  a.mutable_report()->add_warnings("the clock fell by 20 %");
  b.mutable_report()->add_warnings("other programs were busy");
  const Comparison comparison = CompareRuns(a, b, 0);
  EXPECT_THAT(ComparisonText({&a, 1}, {&b, 1}, comparison, {}),
              HasSubstr("warning: A and B: the clock is not fixed\n"
                        "warning: A: the clock fell by 20 %\n"
                        "warning: B: other programs were busy\n"));
  const json document = json::parse(ComparisonDocument({&a, 1}, {&b, 1}, comparison).dump());
  EXPECT_EQ(document["a"]["warnings"],
            json::array({"the clock is not fixed", "the clock fell by 20 %"}));
  EXPECT_EQ(document["b"]["warnings"],
            json::array({"the clock is not fixed", "other programs were busy"}));
}

TEST_F(Flow, CompareEndsWithSixForARegressionOnly) {
  daemon_.profiler.runs = {{"fast", RunOf(2000, 1500, 500, 10)},
                           {"slow", RunOf(4000, 3000, 1000, 10)}};
  const Caught unknown = Call({"compare", "fast", "slower"});
  EXPECT_EQ(unknown.exit_code, 2) << unknown.out;
  EXPECT_THAT(unknown.err, HasSubstr("there is no run slower"));

  const Caught regression = Call({"compare", "fast", "slow"});
  EXPECT_EQ(regression.exit_code, 6) << regression.err;
  EXPECT_THAT(regression.out,
              HasSubstr("B is slower: 0.500 times as fast as A (0.496 to 0.504)\n"));
  EXPECT_EQ(Call({"compare", "slow", "fast"}).exit_code, 0);
  EXPECT_EQ(Call({"compare", "fast", "fast"}).exit_code, 0);
  EXPECT_EQ(Call({"compare", "fast", "slow", "--tolerance", "150%"}).exit_code, 2);
  EXPECT_EQ(Call({"compare", "fast", "slow", "--tolerance", "99%"}).exit_code, 6);
}

TEST_F(Flow, CompareTakesSeveralRunsASide) {
  v1::Run slow = RunOf(2060, 1500, 560, 10);
  daemon_.profiler.runs = {{"once", RunOf(2000, 1500, 500, 10)}};
  for (const char* id : {"a1", "a2", "b1", "b2"}) {
    v1::Run run = id[0] == 'a' ? RunOf(2000, 1500, 500, 10) : slow;
    run.set_id(id);
    daemon_.profiler.runs[id] = run;
  }
  const Caught gate = Call({"compare", "a1,a2", "b1,b2"});
  EXPECT_EQ(gate.exit_code, 6) << gate.err;
  EXPECT_THAT(gate.out, HasSubstr("   2 runs: a1 2.00 µs, a2 2.00 µs\n"));
  EXPECT_THAT(gate.out, Not(HasSubstr("note:")));
  // 3 % of one run a side is no difference.
  EXPECT_EQ(Call({"compare", "a1", "b1"}).exit_code, 0);
  EXPECT_THAT(Call({"compare", "a1", "b1"}).out, HasSubstr("differences up to 10 %"));
  const json document = json::parse(Call({"compare", "a1,a2", "b1,b2", "--json"}).out);
  EXPECT_EQ(document["a"]["runs"][1]["id"], "a2");
  EXPECT_EQ(document["b"]["runs"].size(), 2U);
  EXPECT_EQ(document["note"], nullptr);
  EXPECT_EQ(Call({"compare", "a1,a1", "b1"}).exit_code, 2);
  EXPECT_EQ(Call({"compare", "a1,", "b1"}).exit_code, 2);
}

TEST_F(Flow, CompareTellsNoiseFromWhatTheToleranceAllows) {
  daemon_.profiler.runs = {{"once", RunOf(2000, 1500, 500, 10)},
                           {"near", RunOf(2060, 1500, 500, 2)}};
  // 1990 / 2062 to 2010 / 2058.
  EXPECT_THAT(
      Call({"compare", "once", "near", "--tolerance", "5%"}).out,
      HasSubstr("no difference above the tolerance: B is 0.971 times as fast as A (0.965 to "
                "0.977)\n"));
  EXPECT_THAT(Call({"compare", "once", "once", "--tolerance", "5%"}).out,
              HasSubstr("no difference that can be told from noise"));
}

TEST_F(Flow, CompareSaysTheSameAsJson) {
  daemon_.profiler.runs = {{"fast", RunOf(2000, 1500, 500, 10)},
                           {"slow", RunOf(4000, 3000, 1000, 10)}};
  v1::Quantization& quantization =
      *daemon_.profiler.runs["fast"].mutable_report()->mutable_analysis()->mutable_quantization();
  quantization.set_quantized_from("tiny");
  quantization.set_sqnr_db(31.25);
  const json document = json::parse(Call({"compare", "slow", "fast", "--json"}).out);
  EXPECT_EQ(document["command"], "compare");
  EXPECT_EQ(document["verdict"], "faster");
  EXPECT_EQ(document["pass"]["speedup"], 2.0);
  EXPECT_EQ(document["a"]["parameter_bytes"], 60);
  EXPECT_EQ(document["a"]["quantization"], nullptr);
  EXPECT_EQ(document["b"]["quantization"]["sqnr_db"], 31.25);
  ASSERT_EQ(document["layers"].size(), 2U);
  EXPECT_EQ(document["layers"][0]["name"], "fc");
  EXPECT_EQ(document["layers"][0]["speedup"], 2.0);
  EXPECT_EQ(document["layers"][0]["significant"], true);
  EXPECT_THAT(Call({"compare", "slow", "fast"}).out, HasSubstr("B is int8 of tiny, SQNR 31.2 dB"));
}

TEST_F(Flow, CompareWantsResults) {
  daemon_.profiler.runs = {{"failed", RunInState(v1::RUN_STATE_FAILED)}};
  const Caught failed = Call({"compare", "r-1", "failed"});
  EXPECT_EQ(failed.exit_code, 5);
  EXPECT_THAT(failed.err, HasSubstr("run failed is FAILED and has no result to compare"));
  EXPECT_THAT(failed.out, Not(HasSubstr("B")));
}

}  // namespace
}  // namespace tinyprof::client
