#include "kernels/zoo/analysis.h"

#include <gmock/gmock.h>

#include "kernels/graph/graph_builder.h"
#include "kernels/zoo/modules.h"
#include "tests/unit/zoo/zoo_test_util.h"

namespace tinyprof {
namespace {

TEST(AnalysisTest, SharedLinearIsRunThriceAndStoredOnce) {
  GraphBuilder builder("shared", "test");
  ValueId x = FloatInput(builder, "input", {1, 100});
  const ValueId weight = ScaledWeight(builder, "weight", {100, 100}, 100);
  const ValueId bias = FilledParameter(builder, "bias", {100}, 0);
  for (int i = 0; i < 3; ++i) x = builder.Op("Gemm", {x, weight, bias});
  Result<Graph> graph = std::move(builder).Finish({x});
  ASSERT_TRUE(graph.has_value());

  const ModelAnalysis analysis = Analyzed(*graph);
  EXPECT_EQ(2 * analysis.totals.flops.mac, 60000);
  EXPECT_EQ(analysis.totals.flops.bias, 300);
  EXPECT_EQ(analysis.parameters.unique, 10100);
  EXPECT_EQ(analysis.parameters.listed, 30300);
  EXPECT_EQ(analysis.tinytorch_flop_count, 60000);
}

TEST(AnalysisTest, MatmulOfTwoActivations) {
  GraphBuilder builder("matmul", "test");
  const ValueId a = FloatInput(builder, "a", {25, 16});
  const ValueId b = FloatInput(builder, "b", {16, 9});
  Result<Graph> graph = std::move(builder).Finish({builder.Op("MatMul", {a, b})});
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(Analyzed(*graph).totals.flop_count(), 7200);
}

TEST(AnalysisTest, BroadcastMultiplyCountsOutputs) {
  for (const bool swapped : {false, true}) {
    GraphBuilder builder("scale", "test");
    const ValueId scale = FloatInput(builder, "scale", {1, 16, 1, 1});
    const ValueId x = FloatInput(builder, "x", {1, 16, 8, 8});
    const ValueId y = swapped ? builder.Op("Mul", {x, scale}) : builder.Op("Mul", {scale, x});
    Result<Graph> graph = std::move(builder).Finish({y});
    ASSERT_TRUE(graph.has_value());
    EXPECT_EQ(Analyzed(*graph).totals.flop_count(), 1024);
  }
}

TEST(AnalysisTest, UnknownOperatorsAreNamedAndHaveNoCost) {
  Graph graph = Built("linear(4,3); relu; linear(3,2)");
  for (Node& node : graph.nodes) {
    if (node.op_type == "Relu") node.op_type = "Mystery";
  }
  const ModelAnalysis analysis = Analyzed(graph);
  EXPECT_THAT(analysis.coverage.unknown_ops, testing::ElementsAre("Mystery"));
  EXPECT_EQ(analysis.coverage.node_count, 3);
  EXPECT_EQ(analysis.coverage.nodes_with_rule, 2);
  EXPECT_FALSE(analysis.layers[1].cost.has_value());
  EXPECT_EQ(analysis.totals.flop_count(), 24 + 3 + 12 + 2);
}

TEST(AnalysisTest, LayersTellTheirShapesAndParameters) {
  const ModelAnalysis analysis = Analyzed("conv2d(3,8,3); relu", {2, 3, 10, 10});
  ASSERT_EQ(analysis.layers.size(), 2U);
  const LayerAnalysis& conv = analysis.layers[0];
  EXPECT_EQ(conv.index, 0);
  EXPECT_EQ(conv.op, "Conv");
  EXPECT_EQ(conv.name, "0.conv2d");
  EXPECT_THAT(conv.input_shapes,
              testing::ElementsAre(Shape{2, 3, 10, 10}, Shape{8, 3, 3, 3}, Shape{8}));
  EXPECT_THAT(conv.output_shapes, testing::ElementsAre(Shape{2, 8, 8, 8}));
  EXPECT_EQ(conv.parameter_count, 8 * 27 + 8);
  EXPECT_EQ(analysis.layers[1].parameter_count, 0);
}

TEST(AnalysisTest, PeakHoldsInputAndOutputOfTheWidestLayer) {
  // While the first layer runs, 4 + 1000 floats are alive; while the second runs, 1000 + 2.
  const ModelAnalysis analysis = Analyzed("linear(4,1000); linear(1000,2)");
  EXPECT_GE(analysis.activation_peak_bytes, 4 * 1004);
  EXPECT_LE(analysis.activation_peak_bytes, 4 * (1004 + 2) + 3 * 64);
}

TEST(AnalysisTest, CountsBeyondTheLimitAreAnError) {
  // Each layer alone is fine: 2^20 rows of 2^20 x 2^20.
  const std::string layer = "linear(1048576,1048576); ";
  std::string text;
  for (int i = 0; i < 4; ++i) text += layer;
  Result<ModelAnalysis> analysis = Analyze(Built(text, {1 << 20, 1 << 20}));
  ASSERT_FALSE(analysis.has_value());
  EXPECT_EQ(analysis.error().code, ErrorCode::kOutOfRange);
  EXPECT_EQ(analysis.error().reason, "OVERFLOW");
}

struct CourseFact {
  const char* text;
  std::vector<int64_t> input;
  int64_t flop_count;
};

class CourseFacts : public testing::TestWithParam<CourseFact> {};

TEST_P(CourseFacts, PerSampleWhateverTheBatch) {
  EXPECT_EQ(Analyzed(GetParam().text, GetParam().input).tinytorch_flop_count,
            GetParam().flop_count);
}

INSTANTIATE_TEST_SUITE_P(
    TinyTorch, CourseFacts,
    testing::Values(CourseFact{"linear(128,64)", {32, 128}, 16384},
                    CourseFact{"linear(256,256)", {1, 256}, 131072},
                    CourseFact{"linear(4,3)", {7, 5, 4}, 120},
                    CourseFact{"linear(4,3); relu; linear(3,2)", {1, 4}, 39},
                    CourseFact{"linear(4,3); relu; linear(3,2)", {7, 4}, 39},
                    CourseFact{"conv2d(1,2,3); conv2d(2,3,3)", {5, 1, 8, 8}, 3024},
                    CourseFact{"conv2d(3,16,3)", {1, 3, 32, 32}, 777600},
                    CourseFact{"linear(128,64); linear(64,10)", {1, 128}, 17664},
                    CourseFact{"relu", {4, 8}, 8}, CourseFact{"embedding(50,6)", {3, 11}, 11},
                    CourseFact{"maxpool2d(2)", {2, 3, 8, 8}, 192}));

TEST(TinyTorchCountTest, GptCountsBlocksAndHead) {
  EXPECT_EQ(Analyzed("gpt:seq=128").tinytorch_flop_count, 6343884800);
  EXPECT_EQ(Analyzed("gpt:seq=128", {}, 4).tinytorch_flop_count, 6343884800);
}

}  // namespace
}  // namespace tinyprof
