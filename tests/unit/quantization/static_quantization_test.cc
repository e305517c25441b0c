// Static quantization of networks whose bytes can be worked out by hand.
#include "kernels/quantization/static_quantization.h"

#include <gmock/gmock.h>

#include <set>

#include "kernels/graph/origins.h"
#include "kernels/quantization/prepare.h"
#include "tests/unit/quantization/small_net.h"

namespace tinyprof {
namespace {

using testing::ElementsAre;
using Floats = std::vector<float>;

// Two 1x1 convolutions 0.5 x + 1 and -2 x - 2, with a Relu behind them or not.
Graph TwoChannels(bool with_relu) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 1, 2, 2});
  ValueId y =
      net.Op("Conv", {x, net.Floats("w", {2, 1, 1, 1}, {0.5F, -2}), net.Floats("b", {2}, {1, -2})});
  if (with_relu) y = net.Op("Relu", {y});
  return std::move(net).Finish({y});
}

TEST(StaticQuantizationTest, AConvolutionByHand) {
  const Graph graph = TwoChannels(false);
  // Steps of 1: x from 0, y from -100.
  const Graph quantized =
      QuantizeStatic(graph, {true}, {{graph.inputs[0], {0, 255}}, {graph.outputs[0], {-100, 155}}});
  ASSERT_THAT(OpsOf(quantized), ElementsAre("QuantizeLinear", "QLinearConv", "DequantizeLinear"));
  const Node& conv = quantized.nodes[1];
  EXPECT_EQ(conv.name, graph.nodes[0].name);
  EXPECT_EQ(ElementsOf<float>(quantized, conv.inputs[1]), Floats{1});
  EXPECT_EQ(ElementsOf<uint8_t>(quantized, conv.inputs[2]), (std::vector<uint8_t>{0}));
  EXPECT_EQ(ElementsOf<int8_t>(quantized, conv.inputs[3]), (std::vector<int8_t>{127, -127}));
  EXPECT_EQ(ElementsOf<float>(quantized, conv.inputs[4]), (Floats{0.5F / 127, 2.0F / 127}));
  EXPECT_EQ(ElementsOf<int8_t>(quantized, conv.inputs[5]), (std::vector<int8_t>{0, 0}));
  EXPECT_EQ(ElementsOf<float>(quantized, conv.inputs[6]), Floats{1});
  EXPECT_EQ(ElementsOf<uint8_t>(quantized, conv.inputs[7]), (std::vector<uint8_t>{100}));
  // 1 / (0.5 / 127) and -2 / (2 / 127).
  EXPECT_EQ(ElementsOf<int32_t>(quantized, conv.inputs[8]), (std::vector<int32_t>{254, -127}));
  EXPECT_EQ(RunOn(quantized, {0, 10, 100, 200}), (Floats{1, 6, 51, 101, -2, -22, -100, -100}));
}

TEST(StaticQuantizationTest, AReluIsTheEndOfTheRange) {
  const Graph graph = TwoChannels(true);
  const std::vector<bool> which = {true, false};
  EXPECT_EQ(ValuesToCalibrate(graph, which),
            (std::set<ValueId>{graph.inputs[0], graph.outputs[0]}));
  const Graph quantized =
      QuantizeStatic(graph, which, {{graph.inputs[0], {0, 255}}, {graph.outputs[0], {0, 255}}});
  EXPECT_THAT(OpsOf(quantized), ElementsAre("QuantizeLinear", "QLinearConv", "DequantizeLinear"));
  EXPECT_EQ(quantized.value(quantized.outputs[0]).name, graph.value(graph.outputs[0]).name);
  EXPECT_THAT(OriginsOf(quantized.nodes[1]), ElementsAre(graph.nodes[0].name, graph.nodes[1].name));
  EXPECT_EQ(RunOn(quantized, {0, 10, 100, 200}), (Floats{1, 6, 51, 101, 0, 0, 0, 0}));
}

// Weights 2 * [[1, -2], [0, 0]]^T, K x N [[2, 0], [-4, 0]]: steps of 4/127, and of 1 for zeros.
TEST(StaticQuantizationTest, AGemmByHand) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 2});
  const ValueId y = net.Op(
      "Gemm", {x, net.Floats("w", {2, 2}, {1, -2, 0, 0}), net.Floats("b", {2}, {0.25F, -0.5F})},
      {{"transB", int64_t{1}}, {"alpha", 2.0F}});
  const Graph graph = PrepareForQuantization(std::move(net).Finish({y})).graph;
  const ValueId product = graph.nodes[0].outputs[0];
  const Graph quantized =
      QuantizeStatic(graph, {true, false}, {{graph.inputs[0], {-127, 128}}, {product, {-200, 55}}});
  ASSERT_THAT(OpsOf(quantized),
              ElementsAre("QuantizeLinear", "QLinearMatMul", "DequantizeLinear", "Add"));
  const Node& matmul = quantized.nodes[1];
  EXPECT_EQ(ElementsOf<uint8_t>(quantized, matmul.inputs[2]), (std::vector<uint8_t>{127}));
  // 2 / (4 / 127) is 63.5, which becomes the even 64.
  EXPECT_EQ(ElementsOf<int8_t>(quantized, matmul.inputs[3]), (std::vector<int8_t>{64, 0, -127, 0}));
  EXPECT_EQ(ElementsOf<float>(quantized, matmul.inputs[4]), (Floats{4.0F / 127, 1}));
  // (10 * 64 - 30 * 127) * 4 / 127 is -99.8, a step of 1 away -100.
  EXPECT_EQ(RunOn(quantized, {10, 30}), (Floats{-99.75F, -0.5F}));
}

// A bias of a channel of zeros keeps its value: 3 = 2^30 steps of 3 / 2^30.
TEST(StaticQuantizationTest, TheBiasOfZerosIsKept) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 1, 1, 1});
  const ValueId y =
      net.Op("Conv", {x, net.Floats("w", {1, 1, 1, 1}, {0}), net.Floats("b", {1}, {3})});
  const Graph graph = std::move(net).Finish({y});
  const Graph quantized =
      QuantizeStatic(graph, {true}, {{graph.inputs[0], {0, 255}}, {graph.outputs[0], {3, 3}}});
  const Node& conv = quantized.nodes[1];
  EXPECT_EQ(ElementsOf<int8_t>(quantized, conv.inputs[3]), (std::vector<int8_t>{0}));
  EXPECT_NEAR(ElementsOf<int32_t>(quantized, conv.inputs[8])[0], 1 << 30, 64);
  EXPECT_FLOAT_EQ(RunOn(quantized, {17})[0], 3);
}

TEST(StaticQuantizationTest, BytesStayBytesBetweenQuantizedNodes) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 1, 4, 4});
  ValueId y = net.Op("Conv", {x, net.Floats("w", {1, 1, 1, 1}, {1})});
  y = net.Op("Relu", {y});
  y = net.Op(
      "MaxPool", {y},
      {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
  y = net.Op("Conv", {y, net.Floats("w2", {1, 1, 1, 1}, {1})});
  y = net.Op("Flatten", {y});
  y = net.Op("MatMul", {y, net.Floats("w3", {4, 1}, {1, 1, 1, 1})});
  const Graph graph = std::move(net).Finish({y});
  const std::vector<bool> which = {true, false, false, true, false, true};
  ValueRanges ranges;
  for (const ValueId id : ValuesToCalibrate(graph, which)) ranges[id] = {0, 255};
  const Graph quantized = QuantizeStatic(graph, which, ranges);
  EXPECT_THAT(OpsOf(quantized),
              ElementsAre("QuantizeLinear", "QLinearConv", "MaxPool", "QLinearConv", "Flatten",
                          "QLinearMatMul", "DequantizeLinear"));
  // The largest of each quarter: 5, 7, 13, 15.
  EXPECT_EQ(RunOn(quantized, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}), Floats{40});
}

TEST(StaticQuantizationTest, ClipsAroundZeroGoWithTheProductAndOthersStay) {
  for (const float low : {-1.0F, 0.5F}) {
    SmallNet net;
    const ValueId x = net.Input("x", {1, 1, 1, 1});
    const ValueId y = net.Op("Conv", {x, net.Floats("w", {1, 1, 1, 1}, {1})});
    const ValueId bound = net.Floats("low", Shape(), {low});
    const ValueId top = net.Floats("high", Shape(), {6});
    const ValueId z = net.Op("Clip", {y, bound, top});
    const Graph graph = std::move(net).Finish({z});
    const std::vector<bool> which = {true, false};
    ValueRanges ranges;
    for (const ValueId id : ValuesToCalibrate(graph, which)) ranges[id] = {0, 6};
    const std::vector<std::string> ops = OpsOf(QuantizeStatic(graph, which, ranges));
    EXPECT_EQ(std::count(ops.begin(), ops.end(), "Clip"), low > 0 ? 1 : 0);
  }
}

// A range of 0 alone has the scale 1, whose steps go far beyond what the Clip lets through.
TEST(StaticQuantizationTest, AClipToZeroStays) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 1, 1, 1});
  const ValueId y = net.Op("Conv", {x, net.Floats("w", {1, 1, 1, 1}, {1})});
  const ValueId zero = net.Floats("zero", Shape(), {0});
  const ValueId z = net.Op("Clip", {y, zero, zero});
  const Graph graph = std::move(net).Finish({z});
  const std::vector<bool> which = {true, false};
  ValueRanges ranges;
  for (const ValueId id : ValuesToCalibrate(graph, which)) ranges[id] = {0, 51};
  ranges[z] = {0, 0};
  EXPECT_EQ(RunOn(QuantizeStatic(graph, which, ranges), {51}), Floats{0});
}

TEST(StaticQuantizationTest, SharedWeightsAreQuantizedOnceAndKeptForOtherReaders) {
  SmallNet net;
  const ValueId x = net.Input("x", {2, 2});
  const ValueId w = net.Floats("w", {2, 2}, {1, 2, 3, 4});
  const ValueId y = net.Op("MatMul", {net.Op("MatMul", {x, w}), w});
  const ValueId z = net.Op("Mul", {y, w});
  const Graph graph = std::move(net).Finish({z});
  ValueRanges ranges;
  const std::vector<bool> which = {true, true, false};
  for (const ValueId id : ValuesToCalibrate(graph, which)) ranges[id] = {-1, 1};
  const Graph quantized = QuantizeStatic(graph, which, ranges);
  ASSERT_THAT(OpsOf(quantized), ElementsAre("QuantizeLinear", "QLinearMatMul", "QLinearMatMul",
                                            "DequantizeLinear", "Mul"));
  EXPECT_EQ(quantized.nodes[1].inputs[3], quantized.nodes[2].inputs[3]);
  EXPECT_EQ(ElementsOf<float>(quantized, IdOf(quantized, "w")), (Floats{1, 2, 3, 4}));
}

}  // namespace
}  // namespace tinyprof
