// The plan of fusion: what it makes one, what it must leave alone, and that counts add up.
#include "kernels/runtime/fusion_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/graph/fusion.h"
#include "kernels/graph/graph_builder.h"
#include "kernels/ops/op.h"
#include "kernels/runtime/session.h"
#include "kernels/zoo/analysis.h"
#include "kernels/zoo/zoo.h"
#include "tests/unit/kernels/fusion_net.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Ints = std::vector<int64_t>;

std::vector<std::string> Activations(const Node& node) {
  std::vector<std::string> names;
  for (const FusedStep& step : node.fusion->steps) names.push_back(step.activation);
  return names;
}

TEST(FusionPlan, AConvolutionTakesWhatFollowsIt) {
  Net net({1, 4, 6, 6});
  const ValueId y = net.builder().Op("Relu", {net.Norm(net.Conv(net.x(), 8))}, {}, "relu");
  const Graph fused = FuseNodes(net.Finish({y}), Always);
  ASSERT_EQ(fused.nodes.size(), 1U);
  EXPECT_EQ(fused.nodes[0].name, "conv");
  EXPECT_EQ(fused.nodes[0].op_type, "Conv");
  EXPECT_EQ(fused.nodes[0].outputs, std::vector{y});
  EXPECT_THAT(PartNames(fused.nodes[0]), ElementsAre("conv", "bn", "relu"));
}

TEST(FusionPlan, WhatOthersReadStays) {
  Net net({1, 4, 6, 6});
  const ValueId first = net.Conv(net.x(), 8);
  const ValueId relu = net.builder().Op("Relu", {first}, {}, "relu");
  const ValueId other = net.builder().Op("Tanh", {first}, {}, "tanh");
  const ValueId second = net.Conv(relu, 4);
  const ValueId output = net.builder().Op("Relu", {second}, {}, "last");
  // An output of the graph has a reader outside of it.
  const Graph graph = net.Finish({other, second, output});
  EXPECT_EQ(FuseNodes(graph, Always).nodes.size(), graph.nodes.size());
}

TEST(FusionPlan, OnlyAValueOfTheSameShapeIsAdded) {
  Net net({2, 4, 6, 6});
  GraphBuilder& builder = net.builder();
  const ValueId pooled = builder.Op("GlobalAveragePool", {net.x()}, {}, "pool");
  const ValueId broadcast = builder.Op("Add", {net.Conv(net.x(), 4), pooled}, {}, "broadcast");
  const ValueId whole = builder.Op("Add", {broadcast, net.Conv(broadcast, 4)}, {}, "whole");
  const Graph fused = FuseNodes(net.Finish({whole}), Always);
  std::vector<std::string> names;
  for (const Node& node : fused.nodes) names.push_back(node.name);
  // The second convolution reads what is added to it, so that it may not be overwritten either.
  EXPECT_THAT(names, ElementsAre("pool", "conv", "broadcast", "conv_1", "whole"));
}

TEST(FusionPlan, OfTwoConvolutionsThatMeetOneTakesTheAddition) {
  Net net({1, 4, 6, 6});
  const ValueId left = net.Norm(net.Conv(net.x(), 8));
  const ValueId right = net.Norm(net.Conv(net.x(), 8));
  const ValueId y =
      net.builder().Op("Relu", {net.builder().Op("Add", {left, right}, {}, "add")}, {}, "relu");
  const Graph fused = FuseNodes(net.Finish({y}), Always);
  ASSERT_EQ(fused.nodes.size(), 2U);
  // The one that is added has to be there before.
  EXPECT_THAT(PartNames(fused.nodes[0]), ElementsAre("conv_1", "bn_1"));
  EXPECT_THAT(PartNames(fused.nodes[1]), ElementsAre("conv", "bn", "add", "relu"));
}

TEST(FusionPlan, HardSwishIsKnownInAllItsSpellings) {
  const auto activations_of = [](auto&& spell) {
    Net net({1, 4, 6, 6});
    const ValueId y = spell(net, net.Conv(net.x(), 8));
    const Graph fused = FuseNodes(net.Finish({y}), Always);
    EXPECT_EQ(fused.nodes.size(), 1U);
    return Activations(fused.nodes[0]);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(activations_of([](Net& net, ValueId x) { return net.SpelledHardSwish(x); }),
            Names{"HardSwish"});
  EXPECT_EQ(activations_of([](Net& net, ValueId x) {
              const ValueId gate = net.builder().Op(
                  "HardSigmoid", {x}, {{"alpha", 0.1666667F}, {"beta", 0.5F}}, "gate");
              return net.builder().Op("Mul", {gate, x}, {}, "mul");
            }),
            Names{"HardSwish"});
  EXPECT_EQ(activations_of([](Net& net, ValueId x) {
              const ValueId clipped = net.builder().Op(
                  "Clip",
                  {net.builder().Op("Add", {net.Number(3), x}), net.Number(0), net.Number(6)});
              const ValueId gate = net.builder().Op("Mul", {clipped, net.Number(1.0F / 6)});
              return net.builder().Op("Mul", {x, gate});
            }),
            Names{"HardSwish"});
  EXPECT_EQ(activations_of([](Net& net, ValueId x) {
              return net.builder().Op("Mul", {x, net.builder().Op("Sigmoid", {x})});
            }),
            Names{"Swish"});
}

TEST(FusionPlan, WhatIsAlmostAHardSwishIsNone) {
  const auto node_count = [](float shift, float high, float divisor) {
    Net net({1, 4, 6, 6});
    const ValueId x = net.Conv(net.x(), 8);
    GraphBuilder& builder = net.builder();
    const ValueId moved = builder.Op("Add", {x, net.Number(shift)});
    const ValueId clipped = builder.Op("Clip", {moved, net.Number(0), net.Number(high)});
    const ValueId product = builder.Op("Mul", {x, clipped});
    const Graph graph = net.Finish({builder.Op("Div", {product, net.Number(divisor)})});
    return FuseNodes(graph, Always).nodes.size();
  };
  EXPECT_EQ(node_count(3, 6, 6), 1U);
  EXPECT_EQ(node_count(2, 6, 6), 5U);
  EXPECT_EQ(node_count(3, 5, 6), 5U);
  EXPECT_EQ(node_count(3, 6, 5), 5U);
}

TEST(FusionPlan, WhatTheFilterRefusesIsTriedShorter) {
  Net net({1, 4, 6, 6});
  const ValueId y = net.builder().Op("Relu", {net.Norm(net.Conv(net.x(), 8))}, {}, "relu");
  const Graph fused = FuseNodes(net.Finish({y}), [](const NodeSignature& signature) {
    return signature.node->fusion->steps.size() < 2;
  });
  ASSERT_EQ(fused.nodes.size(), 2U);
  EXPECT_THAT(PartNames(fused.nodes[0]), ElementsAre("conv", "bn"));
  EXPECT_THAT(PartNames(fused.nodes[1]), IsEmpty());
}

TEST(FusionPlan, AChainOfAnyLengthIsCut) {
  Net net({1, 4, 6, 6});
  ValueId y = net.Conv(net.x(), 8);
  for (int i = 0; i < 20; ++i) y = net.builder().Op("Relu", {y}, {}, "relu");
  const Graph fused = FuseNodes(net.Finish({y}), Always);
  EXPECT_EQ(fused.nodes.size(), 1U + 12U);
  EXPECT_EQ(PartNames(fused.nodes[0]).size(), 9U);
}

// Conv of 4 to 8 channels over 6 x 6, 3 x 3 taps; then 2 FLOPs an element for the normalization,
// 1 for the addition, 1 for Relu.
TEST(FusionPlan, CountsAreTheSumsOfTheParts) {
  Net net({1, 4, 6, 6});
  GraphBuilder& builder = net.builder();
  const ValueId side = builder.Op("Tanh", {net.Conv(net.x(), 8)}, {}, "side");
  const ValueId sum = builder.Op("Add", {net.Norm(net.Conv(net.x(), 8)), side}, {}, "add");
  const Graph graph = net.Finish({builder.Op("Relu", {sum}, {}, "relu"), side});
  const Graph fused = FuseNodes(graph, Always);
  ASSERT_EQ(fused.nodes.size(), 2U);
  const Cost cost = *CostOf(SignatureOf(fused, fused.nodes[1], true));
  constexpr int64_t kElements = 8 * 6 * 6;
  EXPECT_EQ(cost.flops.mac, kElements * 4 * 9);
  EXPECT_EQ(cost.flops.add_mul_div, 3 * kElements);
  EXPECT_EQ(cost.flops.minmax, kElements);
  // x, the addend and the result once each; the weights, and four numbers a channel.
  EXPECT_EQ(cost.input_bytes, 4 * (4 * 36 + kElements));
  EXPECT_EQ(cost.output_bytes, 4 * kElements);
  EXPECT_EQ(cost.weight_bytes, 4 * (8 * 4 * 9 + 4 * 8));
}

void ExpectSameTotals(const Graph& graph) {
  const Graph fused = FuseNodes(graph, Always);
  EXPECT_LT(fused.nodes.size(), graph.nodes.size());
  const ModelAnalysis before = *Analyze(graph);
  const ModelAnalysis after = *Analyze(fused);
  EXPECT_EQ(after.totals.flops, before.totals.flops);
  EXPECT_EQ(after.totals.valid_tap_mac_count, before.totals.valid_tap_mac_count);
  EXPECT_EQ(after.totals.weight_bytes, before.totals.weight_bytes);
  EXPECT_LT(after.totals.compulsory_bytes(), before.totals.compulsory_bytes());
  EXPECT_EQ(after.parameters.listed, before.parameters.listed);
  EXPECT_EQ(after.parameters.unique, before.parameters.unique);
  EXPECT_EQ(after.tinytorch_flop_count, before.tinytorch_flop_count);
  EXPECT_EQ(after.coverage.node_count, before.coverage.node_count);
  EXPECT_EQ(after.coverage.nodes_with_rule, before.coverage.nodes_with_rule);
  EXPECT_LE(after.activation_peak_bytes, before.activation_peak_bytes);
  size_t node_count = 0;
  int64_t parameters = 0;
  for (const LayerAnalysis& layer : after.layers) {
    node_count += std::max<size_t>(layer.fused.size(), 1);
    parameters += layer.parameter_count;
  }
  EXPECT_EQ(node_count, graph.nodes.size());
  EXPECT_EQ(parameters, before.parameters.listed);
}

TEST(FusionPlan, TotalsOfZooNetworksStay) {
  for (const char* name :
       {"lenet", "resnet18:image=64", "resnet50:image=64", "mlp", "tinygpt:layers=1"}) {
    SCOPED_TRACE(name);
    ExpectSameTotals(*BuildZooModel(name, 1, 1));
  }
}

}  // namespace
}  // namespace tinyprof
