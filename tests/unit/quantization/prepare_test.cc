// Folded norms and split Gemms: the numbers by hand, and that the network stays the same.
#include "kernels/quantization/prepare.h"

#include <gmock/gmock.h>

#include "tests/unit/quantization/small_net.h"

namespace tinyprof {
namespace {

using testing::ElementsAre;
using Floats = std::vector<float>;

// A 1x1 convolution by 3 with bias 1, then (y - 2) * 4 / sqrt(3 + 1) + 5: y' = 6 x - 2 + 5.
TEST(PrepareTest, ANormGoesIntoWeightAndBias) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 1, 1, 2});
  const ValueId y =
      net.Op("Conv", {x, net.Floats("w", {1, 1, 1, 1}, {3}), net.Floats("b", {1}, {1})});
  const ValueId z = net.Op("BatchNormalization",
                           {y, net.Floats("scale", {1}, {4}), net.Floats("shift", {1}, {5}),
                            net.Floats("mean", {1}, {2}), net.Floats("variance", {1}, {3})},
                           {{"epsilon", 1.0F}});
  const Graph graph = std::move(net).Finish({z});
  const PreparedGraph prepared = PrepareForQuantization(graph);
  EXPECT_EQ(prepared.folded_batch_norms, 1);
  ASSERT_THAT(OpsOf(prepared.graph), ElementsAre("Conv"));
  const Node& conv = prepared.graph.nodes[0];
  EXPECT_EQ(ElementsOf<float>(prepared.graph, conv.inputs[1]), Floats{6});
  EXPECT_EQ(ElementsOf<float>(prepared.graph, conv.inputs[2]), Floats{3});
  EXPECT_EQ(RunOn(prepared.graph, {1, -1}), (Floats{9, -3}));
  EXPECT_EQ(RunOn(graph, {1, -1}), (Floats{9, -3}));
}

TEST(PrepareTest, ANormOfAValueThatOthersReadStays) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 1, 1, 2});
  const ValueId y = net.Op("Conv", {x, net.Floats("w", {1, 1, 1, 1}, {3})});
  const ValueId z = net.Op("BatchNormalization",
                           {y, net.Floats("scale", {1}, {4}), net.Floats("shift", {1}, {5}),
                            net.Floats("mean", {1}, {2}), net.Floats("variance", {1}, {3})});
  const PreparedGraph prepared = PrepareForQuantization(std::move(net).Finish({z, y}));
  EXPECT_EQ(prepared.folded_batch_norms, 0);
  EXPECT_THAT(OpsOf(prepared.graph), ElementsAre("Conv", "BatchNormalization"));
}

// 2 x [[1, 2], [3, 4]]^T + 10 [1, -1] on (1, 10): 2 (21, 43) + (10, -10).
TEST(PrepareTest, AGemmBecomesAProductAndASum) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 2});
  const ValueId y =
      net.Op("Gemm", {x, net.Floats("w", {2, 2}, {1, 2, 3, 4}), net.Floats("b", {2}, {1, -1})},
             {{"transB", int64_t{1}}, {"alpha", 2.0F}, {"beta", 10.0F}});
  const Graph graph = std::move(net).Finish({y});
  const PreparedGraph prepared = PrepareForQuantization(graph);
  ASSERT_THAT(OpsOf(prepared.graph), ElementsAre("MatMul", "Add"));
  EXPECT_EQ(prepared.graph.nodes[0].name, graph.nodes[0].name);
  EXPECT_EQ(ElementsOf<float>(prepared.graph, prepared.graph.nodes[0].inputs[1]),
            (Floats{2, 6, 4, 8}));
  EXPECT_EQ(ElementsOf<float>(prepared.graph, prepared.graph.nodes[1].inputs[1]),
            (Floats{10, -10}));
  EXPECT_EQ(RunOn(prepared.graph, {1, 10}), (Floats{52, 76}));
  EXPECT_EQ(RunOn(graph, {1, 10}), (Floats{52, 76}));
}

TEST(PrepareTest, AGemmOfATransposedInputStays) {
  SmallNet net;
  const ValueId x = net.Input("x", {2, 1});
  const ValueId y =
      net.Op("Gemm", {x, net.Floats("w", {2, 2}, {1, 2, 3, 4})}, {{"transA", int64_t{1}}});
  EXPECT_THAT(OpsOf(PrepareForQuantization(std::move(net).Finish({y})).graph), ElementsAre("Gemm"));
}

}  // namespace
}  // namespace tinyprof
