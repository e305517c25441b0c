#include "daemon/convert/derived.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

void SetQuantity(v1::Quantity& quantity, double value, v1::Quality quality) {
  quantity.set_value(value);
  quantity.set_quality(quality);
}

// One layer of 2000 FLOPs in 1000 ns, 3000 FLOPs and 600 bytes measured.
v1::RunReport Report() {
  v1::RunReport report;
  v1::LayerReport& layer = *report.add_layers();
  layer.mutable_analysis()->mutable_cost()->set_flop_count(2000);
  layer.mutable_time()->set_median_ns(1000);
  SetQuantity(*layer.mutable_counters()->mutable_flops(), 3000, v1::QUALITY_EXACT);
  SetQuantity(*layer.mutable_counters()->mutable_dram_bytes(), 600, v1::QUALITY_GOOD);
  return report;
}

TEST(DerivedTest, DividesMeasuredAndAnalytic) {
  v1::RunReport report = Report();
  AddDerived(report);
  const v1::LayerReport& layer = report.layers(0);
  EXPECT_DOUBLE_EQ(layer.flops_per_second().value(), 2e9);
  EXPECT_EQ(layer.flops_per_second().unit(), "flop/s");
  EXPECT_EQ(layer.flops_per_second().source(), v1::SOURCE_DERIVED);
  EXPECT_DOUBLE_EQ(layer.measured_to_analytic().value(), 1.5);
  EXPECT_DOUBLE_EQ(layer.measured_intensity().value(), 5);
  EXPECT_EQ(layer.measured_intensity().quality(), v1::QUALITY_GOOD);
}

TEST(DerivedTest, AbsentOperandGivesItsReason) {
  v1::RunReport report = Report();
  v1::Quantity& flops = *report.mutable_layers(0)->mutable_counters()->mutable_flops();
  flops.clear_value();
  flops.set_reason("NO_PMU: there is none");
  AddDerived(report);
  const v1::LayerReport& layer = report.layers(0);
  EXPECT_FALSE(layer.measured_to_analytic().has_value());
  EXPECT_EQ(layer.measured_to_analytic().reason(), "NO_PMU: there is none");
  EXPECT_EQ(layer.measured_intensity().reason(), "NO_PMU: there is none");
  EXPECT_EQ(layer.measured_intensity().quality(), v1::QUALITY_UNSPECIFIED);
}

TEST(DerivedTest, ResultIsNoBetterThanItsOperands) {
  v1::RunReport report = Report();
  v1::Quantity& flops = *report.mutable_layers(0)->mutable_counters()->mutable_flops();
  flops.set_quality(v1::QUALITY_SUSPECT);
  flops.set_reason("OVERCOUNT: it counts masked lanes");
  AddDerived(report);
  for (const v1::Quantity& result :
       {report.layers(0).measured_to_analytic(), report.layers(0).measured_intensity()}) {
    EXPECT_EQ(result.quality(), v1::QUALITY_SUSPECT);
    EXPECT_EQ(result.reason(), "OVERCOUNT: it counts masked lanes");
  }
}

TEST(DerivedTest, IntensityOfASocketsBytesSaysSo) {
  v1::RunReport report = Report();
  report.mutable_layers(0)->mutable_counters()->mutable_dram_bytes()->set_note("whole socket");
  AddDerived(report);
  EXPECT_EQ(report.layers(0).measured_intensity().note(), "whole socket");
  EXPECT_EQ(report.layers(0).measured_to_analytic().note(), "");
}

TEST(DerivedTest, WhatComesOfAStandInsCountsSaysSo) {
  v1::RunReport report = Report();
  v1::Counters& counters = *report.mutable_layers(0)->mutable_counters();
  counters.mutable_flops()->set_source(v1::SOURCE_SIMULATED);
  counters.mutable_dram_bytes()->set_source(v1::SOURCE_SIMULATED);
  AddDerived(report);
  EXPECT_EQ(report.layers(0).measured_to_analytic().source(), v1::SOURCE_SIMULATED);
  EXPECT_EQ(report.layers(0).measured_intensity().source(), v1::SOURCE_SIMULATED);
  EXPECT_EQ(report.layers(0).flops_per_second().source(), v1::SOURCE_DERIVED) << "by formula";
  // One operand is enough, and so it is where there is no value.
  counters.mutable_flops()->set_source(v1::SOURCE_PAPI);
  AddDerived(report);
  EXPECT_EQ(report.layers(0).measured_to_analytic().source(), v1::SOURCE_DERIVED);
  EXPECT_EQ(report.layers(0).measured_intensity().source(), v1::SOURCE_SIMULATED);
  counters.mutable_dram_bytes()->clear_value();
  AddDerived(report);
  EXPECT_EQ(report.layers(0).measured_intensity().source(), v1::SOURCE_SIMULATED);
}

TEST(DerivedTest, NothingIsDividedByZero) {
  v1::RunReport report = Report();
  v1::LayerReport& layer = *report.mutable_layers(0);
  layer.mutable_analysis()->mutable_cost()->set_flop_count(0);
  layer.mutable_counters()->mutable_dram_bytes()->set_value(0);
  layer.mutable_time()->set_median_ns(0);
  AddDerived(report);
  for (const v1::Quantity& result :
       {report.layers(0).flops_per_second(), report.layers(0).measured_to_analytic(),
        report.layers(0).measured_intensity()}) {
    EXPECT_FALSE(result.has_value());
    EXPECT_NE(result.reason(), "");
  }
}

TEST(DerivedTest, ALayerThatDoesNoFlopsRunsAtZero) {
  v1::RunReport report = Report();
  report.mutable_layers(0)->mutable_analysis()->mutable_cost()->set_flop_count(0);
  AddDerived(report);
  ASSERT_TRUE(report.layers(0).flops_per_second().has_value());
  EXPECT_EQ(report.layers(0).flops_per_second().value(), 0);
}

TEST(DerivedTest, TotalsThatLeaveLayersOutAreNotDividedBy) {
  v1::RunReport report = Report();
  report.mutable_analysis()->mutable_totals()->set_flop_count(2000);
  report.mutable_time()->set_median_ns(4000);
  report.mutable_analysis()->mutable_coverage()->set_node_count(1);
  report.mutable_analysis()->mutable_coverage()->set_nodes_with_rule(1);
  AddDerived(report);
  EXPECT_DOUBLE_EQ(report.flops_per_second().value(), 0.5e9);
  report.mutable_analysis()->mutable_coverage()->set_node_count(2);
  AddDerived(report);
  EXPECT_FALSE(report.flops_per_second().has_value());
  EXPECT_NE(report.flops_per_second().reason(), "");
}

TEST(DerivedTest, LayerWithoutCostHasNoSpeed) {
  v1::RunReport report = Report();
  report.mutable_layers(0)->mutable_analysis()->clear_cost();
  AddDerived(report);
  EXPECT_FALSE(report.layers(0).flops_per_second().has_value());
  EXPECT_FALSE(report.layers(0).measured_to_analytic().has_value());
  EXPECT_DOUBLE_EQ(report.layers(0).measured_intensity().value(), 5) << "needs no formula";
}

}  // namespace
}  // namespace tinyprof
