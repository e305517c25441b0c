#include "daemon/convert/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/convert/model_spec.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;

TEST(CostConvertTest, FollowsTheConvention) {
  const Cost cost{.flops = {.mac = 100,
                            .bias = 10,
                            .add_mul_div = 5,
                            .minmax = 4,
                            .compare = 1000,
                            .transcendental = 3,
                            .reduction = 2},
                  .valid_tap_mac_count = 90,
                  .int_op_count = 8,
                  .weight_bytes = 40,
                  .input_bytes = 50,
                  .output_bytes = 22};
  const v1::Cost message = ToProto(cost);
  EXPECT_EQ(message.mac_count(), 100);
  EXPECT_EQ(message.valid_tap_mac_count(), 90);
  EXPECT_EQ(message.flop_count(), 200 + 10 + 5 + 4 + 3 + 2) << "comparisons weigh nothing";
  EXPECT_EQ(message.flop_count_2mac(), 200);
  EXPECT_EQ(message.flop_classes().compare(), 1000);
  EXPECT_EQ(message.int_op_count(), 8);
  EXPECT_EQ(message.compulsory_bytes(), 112);
  EXPECT_DOUBLE_EQ(message.arithmetic_intensity(), 2);
}

TEST(CostConvertTest, NoBytesNoIntensity) {
  EXPECT_FALSE(ToProto(Cost{}).has_arithmetic_intensity());
}

// Linear(784, 128), ReLU, Linear(128, 10) on two samples, counted by hand.
TEST(AnalysisConvertTest, KeepsTheCountsOfAModel) {
  v1::ModelSpec spec;
  spec.set_text("linear(784,128); relu; linear(128,10)");
  v1::InputShape& input = *spec.add_inputs();
  input.add_dims(2);
  input.add_dims(784);
  const Result<Graph> graph = BuildGraph(spec, -1);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const v1::ModelAnalysis message = ToProto(*graph, *Analyze(*graph));

  EXPECT_EQ(message.source(), "layers");
  EXPECT_EQ(message.parameter_count(), 784 * 128 + 128 + 128 * 10 + 10);
  EXPECT_EQ(message.unique_parameter_count(), message.parameter_count());
  EXPECT_EQ(message.parameter_bytes(), 4 * message.parameter_count());
  EXPECT_EQ(message.totals().mac_count(), 2 * (784 * 128 + 128 * 10));
  EXPECT_EQ(message.coverage().node_count(), 3);
  EXPECT_EQ(message.coverage().nodes_with_rule(), 3);
  EXPECT_NE(message.convention(), "");
  ASSERT_EQ(message.inputs_size(), 1);
  EXPECT_THAT(message.inputs(0).shape(), ElementsAre(2, 784));
  EXPECT_EQ(message.inputs(0).dtype(), "float32");
  ASSERT_EQ(message.layers_size(), 3);
  EXPECT_EQ(message.layers(0).op(), "Gemm");
  ASSERT_EQ(message.layers(0).inputs_size(), 3) << "data, weight, bias";
  EXPECT_EQ(message.layers(0).parameter_count(), 784 * 128 + 128);
  EXPECT_EQ(message.layers(1).inputs(0).name(), message.layers(0).outputs(0).name());
  EXPECT_THAT(message.layers(1).outputs(0).shape(), ElementsAre(2, 128));
  EXPECT_EQ(message.layers(1).cost().flop_classes().minmax(), 2 * 128);
  EXPECT_EQ(message.layers(2).index(), 2);
}

TEST(AnalysisConvertTest, LayerWithoutRuleHasNoCost) {
  v1::ModelSpec spec;
  spec.set_text("relu");
  spec.add_inputs()->add_dims(4);
  const Result<Graph> graph = BuildGraph(spec, -1);
  ASSERT_TRUE(graph.has_value());
  ModelAnalysis analysis = *Analyze(*graph);
  analysis.layers[0].cost.reset();
  analysis.coverage.nodes_with_rule = 0;
  analysis.coverage.unknown_ops = {"Relu"};
  const v1::ModelAnalysis message = ToProto(*graph, analysis);
  EXPECT_FALSE(message.layers(0).has_cost());
  EXPECT_THAT(message.coverage().unknown_ops(), ElementsAre("Relu"));
}

}  // namespace
}  // namespace tinyprof
