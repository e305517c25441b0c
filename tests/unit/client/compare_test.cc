// Two runs against each other: ratios and intervals by hand, what is matched with what, what is
// printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
  EXPECT_DOUBLE_EQ(fused.layers[0].a.median_ns, 4000);
  EXPECT_DOUBLE_EQ(fused.layers[0].a.low_ns, 3800);
  EXPECT_DOUBLE_EQ(fused.layers[0].speedup.value, 2);
  EXPECT_THAT(fused.only_a.names, IsEmpty());

  const Comparison taken_apart = CompareRuns(FusedRun(2000), apart, 0.01);
  ASSERT_EQ(taken_apart.layers.size(), 1U);
  EXPECT_DOUBLE_EQ(taken_apart.layers[0].b.median_ns, 4000);
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
    EXPECT_DOUBLE_EQ(comparison.layers[0].a.median_ns, with_floats == &apart ? 300 : 100);
    EXPECT_DOUBLE_EQ(comparison.layers[0].b.median_ns, 100);
    EXPECT_DOUBLE_EQ(comparison.layers[2].b.median_ns, 200);
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
  EXPECT_DOUBLE_EQ(comparison.layers[0].a.median_ns, 200);
  EXPECT_DOUBLE_EQ(comparison.layers[0].b.median_ns, 200);
}

TEST(CompareRuns, LayersOfOneRunOnlyAreTold) {
  v1::Run b = RunOf(4000, 3000, 1000, 100);
  b.mutable_report()->mutable_layers(1)->mutable_analysis()->set_name("fc_QuantizeLinear");
  const Comparison comparison = CompareRuns(RunOf(4000, 3000, 1000, 100), b, 0.01);
  EXPECT_EQ(comparison.layers.size(), 1U);
  EXPECT_THAT(comparison.only_a.names, ElementsAre(SecondName()));
  EXPECT_THAT(comparison.only_b.names, ElementsAre("fc_QuantizeLinear"));
  EXPECT_DOUBLE_EQ(comparison.only_b.median_ns, 1000);
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

TEST(ComparisonText, IsTheWrittenPage) {
  const v1::Run a = RunOf(4000, 3000, 1000, 400);
  v1::Run b = RunOf(2000, 1500, 500, 400);
  b.set_id("r-2");
  b.mutable_report()->mutable_layers(1)->mutable_analysis()->set_name("other");
  b.mutable_report()->set_threads(2);
  EXPECT_EQ(ComparisonText(a, b, CompareRuns(a, b, 0.01), {}),
            R"(A  tiny: 2x4, 4.00 µs a pass, 60 B of parameters
   eigen, avx2, 1 thread (CPU 1), warm cache, 50 passes (precision reached); run r-1
B  tiny: 2x4, 2.00 µs a pass, 60 B of parameters
   eigen, avx2, 2 threads (CPU 1), warm cache, 50 passes (precision reached); run r-2
B is faster: 2.000 times as fast as A (1.500 to 2.750)

layer  op    A µs  B µs  times as fast  from    to
fc     Gemm  3.00  1.50           2.00  1.37  3.09

only in A: 1 layer, 1.00 µs of its pass (odd "one",\n)
only in B: 1 layer, 500 ns of its pass (other)
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
  EXPECT_THAT(ComparisonText(a, b, comparison, {}),
              HasSubstr("warning: A and B: the clock is not fixed\n"
                        "warning: A: the clock fell by 20 %\n"
                        "warning: B: other programs were busy\n"));
  const json document = json::parse(ComparisonDocument(a, b, comparison).dump());
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
