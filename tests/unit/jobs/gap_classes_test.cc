#include "daemon/jobs/gap_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

v1::LayerReport& AddLayer(v1::RunReport& report, int64_t flop_count) {
  v1::LayerReport& layer = *report.add_layers();
  layer.mutable_analysis()->mutable_cost()->set_flop_count(flop_count);
  return layer;
}

void SetMeasured(v1::LayerReport& layer, double flops) {
  layer.mutable_counters()->mutable_flops()->set_value(flops);
}

std::map<std::string, double> GapOf(const google::protobuf::RepeatedPtrField<v1::GapClass>& gap) {
  std::map<std::string, double> classes;
  for (const v1::GapClass& entry : gap) {
    classes[entry.name()] = entry.flops();
    EXPECT_NE(entry.note(), "");
  }
  return classes;
}
using Classes = std::map<std::string, double>;

TEST(GapClassesTest, AmdDoesNotCountMaxima) {
  v1::RunReport report;
  v1::LayerReport& relu = AddLayer(report, 1000);
  relu.mutable_analysis()->mutable_cost()->mutable_flop_classes()->set_minmax(1000);
  SetMeasured(relu, 0);
  AddGapClasses("AuthenticAMD", report);
  EXPECT_EQ(GapOf(report.layers(0).gap()), (Classes{{"minmax", -1000}}));
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(GapOf(report.layers(0).gap()), (Classes{{"residual", -1000}}));
}

TEST(GapClassesTest, ClassesOfAStandInsCountsSaySo) {
  v1::RunReport report;
  v1::LayerReport& layer = *report.add_layers();
  layer.mutable_analysis()->mutable_cost()->set_flop_count(1000);
  layer.mutable_counters()->mutable_flops()->set_value(3000);
  AddGapClasses("GenuineIntel", report);
  EXPECT_THAT(report.gap(0).note(), Not(HasSubstr("simulated")));
  layer.mutable_counters()->mutable_flops()->set_source(v1::SOURCE_SIMULATED);
  AddGapClasses("GenuineIntel", report);
  EXPECT_THAT(report.gap(0).note(), StartsWith("simulated: "));
  EXPECT_THAT(report.layers(0).gap(0).note(), StartsWith("simulated: "));
}

TEST(GapClassesTest, SkippedTapsArePaddingUpToTheirNumber) {
  v1::RunReport report;
  v1::LayerReport& conv = AddLayer(report, 2000);
  conv.mutable_analysis()->mutable_cost()->set_mac_count(1000);
  conv.mutable_analysis()->mutable_cost()->set_valid_tap_mac_count(900);
  SetMeasured(conv, 1800);
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(GapOf(report.layers(0).gap()), (Classes{{"padding", -200}}));
  SetMeasured(*report.mutable_layers(0), 1700);
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(GapOf(report.layers(0).gap()), (Classes{{"padding", -200}, {"residual", -100}}));
}

TEST(GapClassesTest, WhatWentIntoTheWeightsIsFolded) {
  v1::RunReport report;
  v1::LayerReport& conv = AddLayer(report, 2000);
  conv.set_folded_flop_count(100);
  SetMeasured(conv, 1900);
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(GapOf(report.layers(0).gap()), (Classes{{"folded", -100}}));
  SetMeasured(*report.mutable_layers(0), 1800);
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(GapOf(report.layers(0).gap()), (Classes{{"folded", -100}, {"residual", -100}}));
}

TEST(GapClassesTest, WhatWinogradSavesIsTheAlgorithm) {
  v1::RunReport report;
  v1::LayerReport& conv = AddLayer(report, 2000);
  conv.mutable_analysis()->mutable_cost()->set_mac_count(1000);
  conv.mutable_analysis()->mutable_cost()->set_valid_tap_mac_count(900);
  conv.set_implementation("jit_wino:avx512_core");
  SetMeasured(conv, 900);
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(GapOf(report.layers(0).gap()), (Classes{{"algorithm", -1100}}));
}

TEST(GapClassesTest, PolynomialsOfTranscendentals) {
  v1::RunReport report;
  v1::LayerReport& gelu = AddLayer(report, 500);
  gelu.mutable_analysis()->mutable_cost()->mutable_flop_classes()->set_transcendental(100);
  SetMeasured(gelu, 500 + 1500);
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(GapOf(report.layers(0).gap()), (Classes{{"transcendental", 1500}}));
  // 29 above the one that is counted is the most that is believed.
  SetMeasured(*report.mutable_layers(0), 500 + 3000);
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(GapOf(report.layers(0).gap()), (Classes{{"transcendental", 2900}, {"residual", 100}}));
}

TEST(GapClassesTest, PaddedVectorLanesAreResidual) {
  // Ten outputs of 128 inputs with bias in lanes of twelve: 1548 were measured for 1290.
  v1::RunReport report;
  SetMeasured(AddLayer(report, 2570), 2570 + 258);
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(GapOf(report.layers(0).gap()), (Classes{{"residual", 258}}));
}

TEST(GapClassesTest, TotalsAreSumsAndUnmeasuredLayersHaveNone) {
  v1::RunReport report;
  SetMeasured(AddLayer(report, 100), 150);
  SetMeasured(AddLayer(report, 100), 90);
  AddLayer(report, 100);
  SetMeasured(*report.add_layers(), 7);
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(GapOf(report.gap()), (Classes{{"residual", 40}}));
  EXPECT_EQ(report.layers(2).gap_size(), 0);
  EXPECT_EQ(report.layers(3).gap_size(), 0) << "no cost to compare with";
}

TEST(GapClassesTest, EqualCountsAndNoiseHaveNoGap) {
  v1::RunReport report;
  SetMeasured(AddLayer(report, 1'000'000), 1'000'000);
  SetMeasured(AddLayer(report, 1'000'000), 1'000'500);
  AddGapClasses("GenuineIntel", report);
  EXPECT_EQ(report.layers(0).gap_size(), 0);
  EXPECT_EQ(report.layers(1).gap_size(), 0);
  EXPECT_EQ(report.gap_size(), 0);
}

}  // namespace
}  // namespace tinyprof
