#include "daemon/jobs/roofline_join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinyprof {
namespace {

using ::testing::HasSubstr;

// 100 GFLOP/s and 10 GB/s from memory, 1000 GB/s from a first-level cache of 32 KiB: ridge 10.
v1::Roofline TestRoofline() {
  v1::Roofline roofline;
  v1::PeakCeiling& peak = *roofline.add_isa();
#if defined(__aarch64__)
  peak.set_name("neon");
#else
  peak.set_name("sse");
#endif
  peak.set_peak_flops_per_second(100e9);
  peak.set_threads(1);
  peak.set_dtype("float32");
  const auto add = [&](const char* level, double bytes_per_second) {
    v1::BandwidthCeiling& bandwidth = *roofline.add_bandwidth();
    bandwidth.set_level(level);
    bandwidth.set_op("load");
    bandwidth.set_threads(1);
    bandwidth.set_bytes_per_second(bytes_per_second);
  };
  add("L1", 1000e9);
  add("DRAM", 10e9);
  for (const auto& [set_bytes, rate] : {std::pair{64 << 10, 1000e9}, std::pair{64 << 20, 10e9}}) {
    v1::StreamPoint& point = *roofline.add_streams();
    point.set_threads(1);
    point.set_set_bytes(set_bytes);
    point.set_bytes_per_second(rate);
  }
  v1::Cache& cache = *roofline.mutable_host()->add_caches();
  cache.set_level(1);
  cache.set_size_bytes(32 << 10);
  cache.set_shared_by_cpus(1);
  return roofline;
}

v1::RunReport EmptyReport() {
  v1::RunReport report;
  report.set_isa("baseline");
  report.set_threads(1);
  report.set_cache("cold");
  return report;
}

v1::LayerReport& AddLayer(v1::RunReport& report, int64_t flop_count, int64_t byte_count,
                          double median_ns) {
  v1::LayerReport& layer = *report.add_layers();
  layer.mutable_analysis()->set_name("layer" + std::to_string(report.layers_size()));
  v1::Cost& cost = *layer.mutable_analysis()->mutable_cost();
  cost.set_flop_count(flop_count);
  cost.set_weight_bytes(byte_count);
  cost.set_compulsory_bytes(byte_count);
  layer.mutable_time()->set_median_ns(median_ns);
  return layer;
}

TEST(RooflineJoinTest, BoundsEachLayerByItsNearerCeiling) {
  v1::RunReport report = EmptyReport();
  // Intensity 2 of ridge 10: 20 GFLOP/s, so 1e8 FLOPs take at least 5 ms.
  AddLayer(report, 100'000'000, 50'000'000, 10e6);
  // Intensity 100: 100 GFLOP/s, so 1e9 FLOPs take at least 10 ms.
  AddLayer(report, 1'000'000'000, 10'000'000, 12.5e6);
  report.mutable_time()->set_median_ns(25e6);
  report.mutable_overhead()->set_instrumented_pass_ns(25e6);
  JoinRoofline(TestRoofline(), report);

  const v1::Bound& memory = report.layers(0).bound();
  EXPECT_DOUBLE_EQ(memory.flops_per_second(), 20e9);
  EXPECT_EQ(memory.label(), "memory");
  EXPECT_EQ(memory.limiter(), "DRAM");
  EXPECT_DOUBLE_EQ(memory.bound_ns(), 5e6);
  EXPECT_DOUBLE_EQ(memory.percent_of_bound(), 50);
  EXPECT_DOUBLE_EQ(memory.ridge_margin(), 0.2);

  const v1::Bound& compute = report.layers(1).bound();
  EXPECT_DOUBLE_EQ(compute.flops_per_second(), 100e9);
  EXPECT_EQ(compute.label(), "compute");
  EXPECT_DOUBLE_EQ(compute.percent_of_bound(), 80);

  // The model: 1.1e9 FLOPs in 15 ms at least, most of it compute.
  EXPECT_DOUBLE_EQ(report.bound().bound_ns(), 15e6);
  EXPECT_DOUBLE_EQ(report.bound().percent_of_bound(), 60);
  EXPECT_NEAR(report.bound().flops_per_second(), 1.1e9 / 15e-3, 1);
  EXPECT_EQ(report.bound().label(), "compute");
  EXPECT_EQ(report.warnings_size(), 0);
}

TEST(RooflineJoinTest, WarmActivationsComeFromTheCacheThatHoldsTheLayer) {
  v1::RunReport report = EmptyReport();
  report.set_cache("warm");
  report.mutable_analysis()->set_parameter_bytes(64 << 20);
  AddLayer(report, 1'000'000, 16 << 10, 50'000);
  JoinRoofline(TestRoofline(), report);
  EXPECT_EQ(report.layers(0).bound().label(), "compute");
}

TEST(RooflineJoinTest, WarmWeightsComeFromWhereTheModelFits) {
  v1::RunReport report = EmptyReport();
  report.set_cache("warm");
  AddLayer(report, 1'000, 20'000, 50'000);
  report.mutable_layers(0)->mutable_analysis()->mutable_cost()->set_weight_bytes(18'000);
  report.mutable_analysis()->set_parameter_bytes(64 << 20);
  JoinRoofline(TestRoofline(), report);
  EXPECT_EQ(report.layers(0).bound().limiter(), "DRAM");
  // Weights at 10 bytes a ns; the rest was just written to the first level.
  EXPECT_NEAR(report.layers(0).bound().bound_ns(), 1'800, 1e-6);
}

TEST(RooflineJoinTest, MoreThanTheBoundIsNotClampedAndWarnedOf) {
  v1::RunReport report = EmptyReport();
  AddLayer(report, 1'000'000'000, 10'000'000, 5e6);
  JoinRoofline(TestRoofline(), report);
  EXPECT_DOUBLE_EQ(report.layers(0).bound().percent_of_bound(), 200);
  ASSERT_EQ(report.warnings_size(), 1);
  EXPECT_THAT(report.warnings(0), HasSubstr("layer1 at 200 %"));
}

// maxpool2d(2) over 1x4x32x32: 16,384 bytes read and 4,096 written, 3 comparisons for each of 1024
// outputs. That is 31 ns of compute and 20 ns of the first-level cache.
v1::LayerReport& AddSlowPool(v1::RunReport& report) {
  v1::LayerReport& layer = AddLayer(report, 3072, 20'480, 4'300);
  layer.mutable_analysis()->mutable_cost()->set_weight_bytes(0);
  layer.mutable_analysis()->mutable_cost()->set_input_bytes(16'384);
  layer.mutable_analysis()->mutable_cost()->set_output_bytes(4'096);
  return layer;
}

TEST(RooflineJoinTest, ASlowKernelWithLittleWorkIsNoOverhead) {
  v1::RunReport report = EmptyReport();
  report.set_cache("warm");
  AddSlowPool(report);
  report.mutable_time()->set_median_ns(4'300);
  report.mutable_overhead()->set_instrumented_pass_ns(4'300);
  JoinRoofline(TestRoofline(), report);
  EXPECT_EQ(report.layers(0).bound().label(), "compute");
  EXPECT_EQ(report.bound().label(), "compute");
  for (const v1::Advice& advice : report.layers(0).advice()) {
    EXPECT_NE(advice.kind(), "batch");
  }
}

TEST(RooflineJoinTest, ASlowKernelIsHeldToGainNoMoreThanItsStartAllows) {
  v1::RunReport report = EmptyReport();
  report.set_cache("warm");
  v1::LayerReport& layer = AddSlowPool(report);
  layer.mutable_time()->set_ci_low_ns(4'000);
  layer.mutable_time()->set_ci_high_ns(4'600);
  report.mutable_time()->set_median_ns(4'300);
  report.mutable_overhead()->set_instrumented_pass_ns(4'300);
  report.mutable_overhead()->set_dispatch_ns(69.28);
  JoinRoofline(TestRoofline(), report);
  EXPECT_EQ(report.layers(0).bound().label(), "compute");
  ASSERT_EQ(report.layers(0).advice_size(), 1);
  EXPECT_EQ(report.layers(0).advice(0).kind(), "kernel");
  // 69.28 ns of starting and 3072 FLOPs at 100 GFLOP/s.
  EXPECT_NEAR(report.layers(0).advice(0).max_speedup(), 4'600 / 100.0, 1e-9);
  EXPECT_FALSE(report.layers(0).advice(0).has_speedup());
}

TEST(RooflineJoinTest, WhatStartingExplainsIsOverheadOfLayerAndModel) {
  v1::RunReport report = EmptyReport();
  report.set_cache("warm");
  AddSlowPool(report).mutable_time()->set_median_ns(100);
  AddSlowPool(report).mutable_time()->set_median_ns(100);
  report.mutable_time()->set_median_ns(240);
  report.mutable_overhead()->set_instrumented_pass_ns(240);
  report.mutable_overhead()->set_dispatch_ns(60);
  JoinRoofline(TestRoofline(), report);
  EXPECT_EQ(report.layers(0).bound().label(), "overhead");
  ASSERT_EQ(report.layers(0).advice_size(), 1);
  EXPECT_EQ(report.layers(0).advice(0).kind(), "batch");
  EXPECT_NEAR(report.layers(0).advice(0).speedup(), 100.0 / 40, 1e-9);
  // Two starts of 60 ns are half of 240 ns, and two bounds of 30.72 ns less.
  EXPECT_EQ(report.bound().label(), "overhead");
  EXPECT_EQ(report.bound().limiter(), "overhead");
  // Each layer saves 60 ns.
  ASSERT_EQ(report.advice_size(), 1);
  EXPECT_NEAR(report.advice(0).speedup(), 240.0 / 120, 1e-9);
}

TEST(RooflineJoinTest, ThePassOfALongerTimeIsTheModelsOwnLabel) {
  // The same two layers in a pass that holds more than they start with: their ceiling is named,
  // though both are overhead.
  v1::RunReport report = EmptyReport();
  report.set_cache("warm");
  AddSlowPool(report).mutable_time()->set_median_ns(100);
  AddSlowPool(report).mutable_time()->set_median_ns(100);
  report.mutable_time()->set_median_ns(241);
  report.mutable_overhead()->set_dispatch_ns(60);
  JoinRoofline(TestRoofline(), report);
  EXPECT_EQ(report.layers(1).bound().label(), "overhead");
  EXPECT_EQ(report.bound().label(), "compute");
}

TEST(RooflineJoinTest, LayersWithoutWorkAreOverheadWhateverStartingTakes) {
  v1::RunReport report = EmptyReport();
  AddLayer(report, 0, 0, 50);
  JoinRoofline(TestRoofline(), report);
  EXPECT_EQ(report.layers(0).bound().label(), "overhead");
  EXPECT_EQ(report.bound().label(), "overhead");
  EXPECT_EQ(report.advice_size(), 0);
}

TEST(RooflineJoinTest, AWidePassPromisesTheModelLess) {
  v1::RunReport report = EmptyReport();
  AddLayer(report, 100'000'000, 50'000'000, 10e6);
  report.mutable_overhead()->set_instrumented_pass_ns(10e6);
  report.mutable_overhead()->set_dispatch_ns(100);
  report.mutable_time()->set_median_ns(10e6);
  report.mutable_time()->set_ci_high_ns(14e6);
  JoinRoofline(TestRoofline(), report);
  const auto find = [&](const std::string& kind) {
    for (const v1::Advice& advice : report.advice()) {
      if (advice.kind() == kind) return advice;
    }
    ADD_FAILURE() << "no advice " << kind;
    return v1::Advice();
  };
  // Half of the weights are 2.5 ms less, of 14 ms at worst; and 2.5 ms of 10 at best.
  EXPECT_NEAR(find("prune").speedup(), 14 / 11.5, 1e-9);
  EXPECT_NEAR(find("prune").max_speedup(), 10 / (2.5 + 100e-6), 1e-9);
  EXPECT_NEAR(find("kernel").max_speedup(), 10 / (5 + 100e-6), 1e-9);
  EXPECT_FALSE(find("kernel").has_speedup());
}

TEST(RooflineJoinTest, LayerWithoutCostHasNoBound) {
  v1::RunReport report = EmptyReport();
  report.add_layers();
  JoinRoofline(TestRoofline(), report);
  EXPECT_FALSE(report.layers(0).has_bound());
  EXPECT_FALSE(report.has_bound());
}

TEST(RooflineJoinTest, ALayerWithoutABoundTakesTheModelsButNoOthers) {
  v1::Roofline roofline = TestRoofline();
  roofline.mutable_bandwidth()->RemoveLast();  // DRAM
  v1::RunReport report = EmptyReport();
  report.set_cache("warm");
  AddLayer(report, 1'000'000, 16 << 10, 50'000);
  AddLayer(report, 1'000'000'000, 1 << 30, 500e6);
  AddLayer(report, 1'000'000, 16 << 10, 50'000);
  // Nothing but activations, which the cache holds or not.
  for (v1::LayerReport& layer : *report.mutable_layers()) {
    layer.mutable_analysis()->mutable_cost()->clear_weight_bytes();
  }
  report.mutable_time()->set_median_ns(501e6);
  JoinRoofline(roofline, report);
  EXPECT_TRUE(report.layers(0).has_bound());
  EXPECT_FALSE(report.layers(1).has_bound());
  EXPECT_TRUE(report.layers(2).has_bound());
  EXPECT_FALSE(report.has_bound());
  ASSERT_EQ(report.warnings_size(), 1);
  EXPECT_THAT(report.warnings(0), HasSubstr("and so the model"));
}

TEST(RooflineJoinTest, MissingCeilingsAreAWarning) {
  v1::RunReport report = EmptyReport();
  report.set_threads(8);
  AddLayer(report, 100, 100, 100);
  JoinRoofline(TestRoofline(), report);
  EXPECT_FALSE(report.layers(0).has_bound());
  ASSERT_EQ(report.warnings_size(), 1);
  EXPECT_THAT(report.warnings(0), HasSubstr("8 threads"));
  report.clear_warnings();
  JoinRoofline(v1::Roofline(), report);
  EXPECT_EQ(report.warnings_size(), 1);
}

TEST(RooflineJoinTest, ModelAdviceIsTheSavingOfAllLayers) {
  v1::RunReport report = EmptyReport();
  // Two layers at half of their bound, which is memory: weights are all of the traffic.
  AddLayer(report, 100'000'000, 50'000'000, 10e6);
  AddLayer(report, 100'000'000, 50'000'000, 10e6);
  report.mutable_overhead()->set_instrumented_pass_ns(40e6);
  report.mutable_overhead()->set_dispatch_ns(100);
  JoinRoofline(TestRoofline(), report);
  for (const v1::Advice& advice : report.advice()) {
    double saved_ns = 0;
    double most_saved_ns = 0;
    for (const v1::LayerReport& layer : report.layers()) {
      for (const v1::Advice& of_layer : layer.advice()) {
        if (of_layer.kind() != advice.kind()) continue;
        if (of_layer.has_speedup()) saved_ns += 10e6 - 10e6 / of_layer.speedup();
        most_saved_ns += 10e6 - 10e6 / of_layer.max_speedup();
      }
    }
    EXPECT_NEAR(advice.max_speedup(), 40e6 / (40e6 - most_saved_ns), 1e-9) << advice.kind();
    EXPECT_EQ(advice.has_speedup(), advice.kind() != "kernel");
    if (advice.has_speedup()) {
      EXPECT_NEAR(advice.speedup(), 40e6 / (40e6 - saved_ns), 1e-9) << advice.kind();
    }
  }
  ASSERT_GT(report.advice_size(), 0);
}

// What the layer before has written is in the cache that holds it, also after a flush.
TEST(RooflineJoinTest, OfAColdPassWeightsAndTheNetworksInputComeFromDram) {
  v1::RunReport report = EmptyReport();
  for (const char* input : {"given", "made"}) {
    v1::LayerReport& layer = AddLayer(report, 0, 16 << 10, 1e6);
    layer.mutable_analysis()->mutable_cost()->clear_weight_bytes();
    const auto set = [](const std::string& name, v1::TensorInfo& tensor) {
      tensor.set_name(name);
      tensor.set_dtype("float32");
      tensor.add_shape(2 << 10);
    };
    set(input, *layer.mutable_analysis()->add_inputs());
    set(std::string(input) == "given" ? "made" : "result",
        *layer.mutable_analysis()->add_outputs());
  }
  JoinRoofline(TestRoofline(), report);
  EXPECT_EQ(report.layers(0).bound().limiter(), "DRAM");
  EXPECT_NEAR(report.layers(0).bound().bound_ns(), (8 << 10) / 10.0, 1e-9);
  EXPECT_EQ(report.layers(1).bound().limiter(), "L1");
}

TEST(RooflineJoinTest, WinogradIsFasterThanTheBoundOfTheCountedFlops) {
  v1::RunReport report = EmptyReport();
  AddLayer(report, 1'000'000'000, 1'000, 5e6).set_implementation("jit_wino:avx512_core");
  JoinRoofline(TestRoofline(), report);
  EXPECT_GT(report.layers(0).bound().percent_of_bound(), 100);
  EXPECT_THAT(report.layers(0).bound().warning(), HasSubstr("Winograd"));
  ASSERT_EQ(report.warnings_size(), 1);
  EXPECT_THAT(report.warnings(0), HasSubstr("Winograd"));
  EXPECT_THAT(report.warnings(0), testing::Not(HasSubstr("out of date")));
}

// 10^6 bytes take 0.1 ms at 10 GB/s: of 0.2 ms that is half, and of 0.4 ms a quarter, which leaves
// more to what integer operations take.
TEST(RooflineJoinTest, IntegersAreBoundByTheirBytesWhereTheseExplainTheTime) {
  for (const bool explains : {true, false}) {
    v1::RunReport report = EmptyReport();
    v1::LayerReport& layer = AddLayer(report, 1'000, 1'000'000, explains ? 2e5 : 4e5);
    layer.mutable_analysis()->mutable_cost()->set_int_op_count(1'000'000);
    AddLayer(report, 0, 1'000'000, 2e5);
    report.mutable_time()->set_median_ns(explains ? 4e5 : 6e5);
    report.mutable_overhead()->set_dispatch_ns(10);
    JoinRoofline(TestRoofline(), report);
    const v1::Bound& bound = report.layers(0).bound();
    EXPECT_DOUBLE_EQ(bound.bound_ns(), 1e5);
    EXPECT_FALSE(bound.has_flops_per_second());
    EXPECT_FALSE(bound.has_ridge_margin());
    EXPECT_EQ(report.layers(1).bound().label(), "memory");
    for (const v1::Bound& each : {bound, report.bound()}) {
      EXPECT_EQ(each.label(), explains ? "memory" : "");
      EXPECT_EQ(each.limiter(), explains ? "DRAM" : "");
      EXPECT_EQ(each.has_percent_of_bound(), explains);
      EXPECT_EQ(each.reason().empty(), explains);
    }
    if (!explains) {
      EXPECT_THAT(bound.reason(), HasSubstr("NO_INTEGER_CEILING: "));
      continue;
    }
    EXPECT_DOUBLE_EQ(bound.percent_of_bound(), 50);
    EXPECT_THAT(bound.warning(), HasSubstr("no ceiling for integer operations"));
  }
}

TEST(RooflineJoinTest, WhatStartingExplainsIsOverheadOfIntegersToo) {
  v1::RunReport report = EmptyReport();
  AddLayer(report, 0, 1'000, 1e3).mutable_analysis()->mutable_cost()->set_int_op_count(1'000);
  report.mutable_overhead()->set_dispatch_ns(600);
  JoinRoofline(TestRoofline(), report);
  EXPECT_EQ(report.layers(0).bound().label(), "overhead");
}

// 10^6 bytes in 5 ms would be a kernel of a fiftieth of its bound, were there nothing but bytes.
TEST(RooflineJoinTest, IntegersHaveNoCeilingAndGetNoAdvice) {
  v1::RunReport report = EmptyReport();
  v1::LayerReport& layer = AddLayer(report, 0, 1'000'000, 5e6);
  layer.mutable_analysis()->mutable_cost()->set_int_op_count(1'000'000);
  report.mutable_overhead()->set_dispatch_ns(10);
  JoinRoofline(TestRoofline(), report);
  EXPECT_THAT(report.layers(0).bound().reason(), HasSubstr("no ceiling for integer operations"));
  EXPECT_TRUE(report.layers(0).advice().empty());
  EXPECT_TRUE(report.advice().empty());
  ASSERT_EQ(report.warnings_size(), 1);
  EXPECT_THAT(report.warnings(0), HasSubstr("1 layer works on integers"));
}

TEST(TinyTorchFiguresTest, FollowTheCourse) {
  v1::RunReport report;
  report.mutable_analysis()->set_tinytorch_flop_count(1'000'000);
  report.mutable_analysis()->add_inputs()->add_shape(8);
  report.mutable_analysis()->set_parameter_bytes(3 << 20);
  report.mutable_memory()->set_peak_bytes(1 << 20);
  report.mutable_time()->set_median_ns(1e6);
  AddTinyTorchFigures(report);
  // 8e6 FLOPs and 4 MiB in 1 ms.
  EXPECT_DOUBLE_EQ(report.tinytorch().gflops_per_second(), 8);
  EXPECT_DOUBLE_EQ(report.tinytorch().memory_bandwidth_mbs(), 4000);
  EXPECT_EQ(report.tinytorch().bottleneck(), "memory");
  report.mutable_analysis()->set_tinytorch_flop_count(100'000'000);
  AddTinyTorchFigures(report);
  EXPECT_EQ(report.tinytorch().bottleneck(), "compute");
}

TEST(TinyTorchFiguresTest, NoTimeNoFigures) {
  v1::RunReport report;
  AddTinyTorchFigures(report);
  EXPECT_FALSE(report.has_tinytorch());
}

}  // namespace
}  // namespace tinyprof
