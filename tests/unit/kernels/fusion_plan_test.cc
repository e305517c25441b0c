// The plan of fusion: what it makes one, what it must leave alone, that counts add up, and that a
// network runs the same by it.
#include "kernels/runtime/fusion_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/graph/fusion.h"
#include "kernels/graph/graph_builder.h"
#include "kernels/ops/op.h"
#include "kernels/runtime/layout_plan.h"
#include "kernels/runtime/session.h"
#include "kernels/zoo/analysis.h"
#include "kernels/zoo/zoo.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Ints = std::vector<int64_t>;

bool Always(const NodeSignature& /*fused*/) { return true; }

// Builds chains of nodes with names that tests can write down.
class Net {
 public:
  explicit Net(Shape input) : builder_("net", "layers") {
    x_ = builder_.Input("x", {DType::kFloat32, std::move(input)}, Fill::Uniform(1, 0));
  }

  ValueId x() const { return x_; }
  GraphBuilder& builder() { return builder_; }
  int64_t channels(ValueId id) const { return builder_.type(id).shape[1]; }

  ValueId Conv(ValueId x, int64_t channels, Attributes attributes = {}, bool bias = false) {
    const int64_t group = attributes.contains("group") ? std::get<int64_t>(attributes["group"]) : 1;
    const int64_t in = this->channels(x) / group;
    std::vector<int64_t> dims(builder_.type(x).shape.rank(), 3);
    dims[0] = channels;
    dims[1] = in;
    attributes["pads"] = Ints(2 * (dims.size() - 2), 1);
    std::vector<ValueId> inputs = {
        x, builder_.Weight("w", Shape(dims), 1 / std::sqrt(9.0 * static_cast<double>(in)))};
    if (bias) inputs.push_back(builder_.Weight("b", {channels}, 0.5));
    return builder_.Op("Conv", inputs, std::move(attributes), "conv");
  }

  ValueId Norm(ValueId x) {
    const int64_t count = channels(x);
    std::vector<float> variance;
    for (int64_t c = 0; c < count; ++c) {
      variance.push_back(0.25F + 0.5F * static_cast<float>(c % 7));
    }
    return builder_.Op(
        "BatchNormalization",
        {x, builder_.Weight("scale", {count}, 2), builder_.Weight("shift", {count}, 1),
         builder_.Weight("mean", {count}, 1),
         builder_.Constant("variance", {DType::kFloat32, {count}}, Fill::Float32s(variance))},
        {{"epsilon", 1e-3F}}, "bn");
  }

  ValueId Number(float value) {
    return builder_.Constant("c", {DType::kFloat32, Shape(Ints{})}, Fill::Float32s({value}));
  }

  // x * Clip(x + 3, 0, 6) / 6 as exporters write it.
  ValueId SpelledHardSwish(ValueId x) {
    const ValueId moved = builder_.Op("Add", {x, Number(3)}, {}, "add3");
    const ValueId clipped = builder_.Op("Clip", {moved, Number(0), Number(6)}, {}, "clip");
    const ValueId product = builder_.Op("Mul", {x, clipped}, {}, "mul");
    return builder_.Op("Div", {product, Number(6)}, {}, "div");
  }

  Graph Finish(const std::vector<ValueId>& outputs) {
    Result<Graph> graph = std::move(builder_).Finish(outputs);
    EXPECT_TRUE(graph.has_value()) << graph.error().message;
    return *std::move(graph);
  }

 private:
  GraphBuilder builder_;
  ValueId x_ = kNoValue;
};

std::vector<std::string> PartNames(const Node& node) {
  std::vector<std::string> names;
  if (node.fusion == nullptr) return names;
  for (const FusedPart& part : node.fusion->parts) names.push_back(part.node.name);
  return names;
}

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

// --- Results -------------------------------------------------------------------------------------

std::unique_ptr<Session> MakeSession(const LayoutPlan& plan, SessionOptions options) {
  options.layouts = plan.layouts;
  auto session = Session::Create(plan.graph, options);
  EXPECT_TRUE(session.has_value()) << session.error().message;
  return session ? *std::move(session) : nullptr;
}

// Fused as `options` say, the network gives what its naive kernels give unfused.
void ExpectSameOutputs(const Graph& graph, const SessionOptions& options, double tolerance) {
  const LayoutPlan plan = *PlanLayouts(*PlanFusion(graph, options), options);
  const auto session = MakeSession(plan, options);
  const auto truth = *Session::Create(graph, {.backend = Backend::kReference, .layouts = {}});
  ASSERT_NE(session, nullptr);
  truth->RunAll();
  for (int pass = 0; pass < 2; ++pass) session->RunAll();
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const ConstTensorView got = session->output(k);
    const ConstTensorView want = truth->output(k);
    ASSERT_EQ(got.type, want.type);
    double largest = 0;
    for (int64_t i = 0; i < want.element_count(); ++i) {
      largest = std::max(largest, std::fabs(double{want.As<float>()[i]}));
    }
    for (int64_t i = 0; i < want.element_count(); ++i) {
      ASSERT_NEAR(got.As<float>()[i], want.As<float>()[i], tolerance * largest)
          << "output " << k << " element " << i;
    }
  }
}

// Every backend and instruction set, on one thread and two.
void ExpectSameEverywhere(const Graph& graph, double tolerance) {
  ExpectSameOutputs(graph, {.backend = Backend::kReference, .layouts = {}}, tolerance);
  for (const int threads : {1, 2}) {
    for (const Isa isa : HostIsas()) {
      SCOPED_TRACE(Name(isa));
      ExpectSameOutputs(graph,
                        {.backend = Backend::kEigen, .isa = isa, .threads = threads, .layouts = {}},
                        tolerance);
    }
    if (!CheckOnednnIsBuilt().has_value()) continue;
    for (const ConvAlgorithm algorithm :
         {ConvAlgorithm::kDirect, ConvAlgorithm::kWinograd, ConvAlgorithm::kAuto}) {
      if (threads > 1 && algorithm == ConvAlgorithm::kAuto) continue;
      // Winograd's sums of products of sums lose digits.
      ExpectSameOutputs(graph,
                        {.backend = Backend::kOnednn,
                         .isa = TestedOnednnIsa(),
                         .threads = threads,
                         .conv_algorithm = algorithm,
                         .layouts = {}},
                        algorithm == ConvAlgorithm::kDirect ? tolerance : 10 * tolerance);
    }
  }
}

ValueId RandomActivation(Net& net, ValueId x, std::mt19937& random) {
  GraphBuilder& builder = net.builder();
  switch (random() % 13) {
    case 0:
      return builder.Op("Relu", {x});
    case 1:
      return builder.Op("LeakyRelu", {x}, {{"alpha", 0.2F}});
    case 2:
      return builder.Op("Clip", {x, net.Number(-0.4F), net.Number(0.5F)});
    case 3:
      return builder.Op("HardSigmoid", {x}, {{"alpha", 0.3F}, {"beta", 0.4F}});
    case 4:
      return builder.Op("HardSwish", {x});
    case 5:
      return net.SpelledHardSwish(x);
    case 6:
      return builder.Op("Sigmoid", {x});
    case 7:
      return builder.Op("Tanh", {x});
    case 8:
      return builder.Op("Gelu", {x});
    case 9:
      return builder.Op("Gelu", {x}, {{"approximate", std::string("tanh")}});
    case 10:
      return builder.Op("Mul", {builder.Op("Sigmoid", {x}), x});
    case 11:
      return builder.Op("Elu", {x}, {{"alpha", 0.7F}});
    default:
      return x;
  }
}

// Two convolutions with what may follow them, in one to three dimensions.
Graph RandomConvNet(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t limit) { return static_cast<int64_t>(random() % limit); };
  std::vector<int64_t> dims = {1 + below(2), 0};
  const int64_t group = below(3) == 0 ? 2 + below(4) : 1;
  dims[1] = group * (1 + below(9));
  const auto spatial = 1 + below(3);
  for (int64_t d = 0; d < spatial; ++d) dims.push_back(4 + below(spatial == 3 ? 4 : 12));
  Net net((Shape(dims)));
  GraphBuilder& builder = net.builder();
  const auto stage = [&](ValueId x, int64_t channels, int64_t groups) {
    Attributes attributes = {{"group", groups}};
    if (below(4) == 0) attributes["strides"] = Ints(static_cast<size_t>(spatial), 2);
    ValueId y = net.Conv(x, channels, attributes, below(2) == 0);
    if (below(2) == 0) y = net.Norm(y);
    if (below(4) == 0) {
      std::vector<int64_t> bias(static_cast<size_t>(spatial) + 1, 1);
      bias[0] = channels;
      y = builder.Op("Add", {builder.Weight("bias", Shape(bias), 1), y});
    }
    if (below(3) == 0) y = RandomActivation(net, y, random);
    if (below(2) == 0) {
      const ValueId addend =
          builder.Op("Tanh", {builder.Op("Mul", {y, net.Number(0.5F)}, {}, "half")});
      // y has two readers now, so another convolution of the same shape takes the addition.
      ValueId twin = net.Conv(x, channels, attributes, true);
      y = builder.Op("Add", {twin, addend});
    }
    return RandomActivation(net, y, random);
  };
  const bool depthwise = below(3) == 0;
  const int64_t channels = group * (1 + below(12));
  const ValueId first = stage(net.x(), depthwise ? dims[1] : channels, depthwise ? dims[1] : group);
  const ValueId second = stage(first, 1 + below(40), 1);
  return net.Finish({second});
}

TEST(FusionPlan, RandomConvolutionsRunTheSame) {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    ExpectSameEverywhere(RandomConvNet(seed), 2e-5);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(FusionPlan, TransposedConvolutionsRunTheSame) {
  for (const int64_t group : {1, 3}) {
    Net net({2, 6, 5, 7});
    GraphBuilder& builder = net.builder();
    const ValueId y = builder.Op(
        "ConvTranspose",
        {net.x(), builder.Weight("w", {6, 5, 3, 3}, 0.3), builder.Weight("b", {5 * group}, 1)},
        {{"group", group}, {"strides", Ints{2, 2}}});
    ExpectSameEverywhere(net.Finish({net.SpelledHardSwish(net.Norm(y))}), 1e-5);
  }
}

TEST(FusionPlan, ProductsRunTheSame) {
  std::mt19937 random(7);
  for (uint32_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    random.seed(seed);
    const auto below = [&](uint32_t limit) { return static_cast<int64_t>(random() % limit); };
    const int64_t m = 1 + below(9);
    const int64_t k = 1 + below(33);
    const int64_t n = 1 + below(40);
    const bool is_gemm = below(2) == 0;
    Net net(is_gemm ? Shape{m, k} : Shape{1 + below(3), m, k});
    GraphBuilder& builder = net.builder();
    const ValueId w = builder.Weight("w", {k, n}, 1 / std::sqrt(static_cast<double>(k)));
    const auto product = [&](bool bias) {
      if (!is_gemm) return builder.Op("MatMul", {net.x(), w});
      if (!bias) return builder.Op("Gemm", {net.x(), w}, {{"alpha", 0.5F}});
      return builder.Op("Gemm", {net.x(), w, builder.Weight("c", {n}, 1)}, {{"beta", 2.0F}});
    };
    ValueId y = product(below(2) == 0);
    if (below(2) == 0) y = builder.Op("Add", {builder.Weight("bias", {n}, 1), y});
    if (below(2) == 0) y = RandomActivation(net, y, random);
    if (below(2) == 0) y = builder.Op("Add", {y, builder.Op("Tanh", {product(true)})});
    ExpectSameEverywhere(net.Finish({RandomActivation(net, y, random)}), 1e-5);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// A HardSigmoid is a line and a clip to oneDNN, and the beta of a Gemm another line.
TEST(FusionPlan, FunctionsMayComeTwice) {
  const auto twice = [](Net& net, ValueId x) {
    GraphBuilder& builder = net.builder();
    const ValueId leaky = builder.Op("LeakyRelu", {x}, {{"alpha", 0.5F}});
    const ValueId leakier = builder.Op("LeakyRelu", {leaky}, {{"alpha", 0.25F}});
    const ValueId clipped = builder.Op("Clip", {leakier, net.Number(-0.2F), net.Number(0.5F)});
    return builder.Op("HardSigmoid", {clipped}, {{"alpha", 2.0F}, {"beta", 0.1F}});
  };
  Net images({1, 16, 8, 8});
  ExpectSameEverywhere(images.Finish({twice(images, images.Conv(images.x(), 16))}), 1e-5);
  Net rows({4, 32});
  GraphBuilder& builder = rows.builder();
  const ValueId product = builder.Op(
      "Gemm", {rows.x(), builder.Weight("w", {32, 24}, 0.2), builder.Weight("c", {24}, 1)},
      {{"beta", 2.0F}});
  ExpectSameEverywhere(rows.Finish({twice(rows, product)}), 1e-5);
}

TEST(FusionPlan, ZooNetworksRunTheSame) {
  for (const char* name : {"lenet", "resnet18:image=32", "mlp", "tinygpt:layers=1"}) {
    SCOPED_TRACE(name);
    ExpectSameEverywhere(*BuildZooModel(name, 1, 1), 1e-4);
  }
}

TEST(FusionPlan, WhatLiesBetweenPartsTakesNoMemory) {
  const Graph graph = *BuildZooModel("resnet18:image=32", 1, 1);
  const Graph fused = FuseNodes(graph, Always);
  const auto session = *Session::Create(fused, {.backend = Backend::kEigen, .layouts = {}});
  for (const Node& node : fused.nodes) {
    if (node.fusion == nullptr) continue;
    const std::vector<FusedPart>& parts = node.fusion->parts;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto id = static_cast<size_t>(parts[i].node.outputs[0]);
      EXPECT_EQ(session->plan().values[id].offset, -1) << parts[i].node.name;
    }
  }
}

class OnednnFusionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!CheckOnednnIsBuilt().has_value()) GTEST_SKIP() << "this build has no oneDNN";
  }
};

SessionOptions Onednn(ConvAlgorithm algorithm) {
  return {.backend = Backend::kOnednn,
          .isa = TestedOnednnIsa(),
          .conv_algorithm = algorithm,
          .layouts = {}};
}

// 2 FLOPs an element for the normalization, of which the addition of the new bias stays.
TEST_F(OnednnFusionTest, ANormalizationGoesIntoTheWeights) {
  Net net({1, 16, 8, 8});
  const Graph graph = net.Finish({net.Norm(net.Conv(net.x(), 16))});
  const SessionOptions options = Onednn(ConvAlgorithm::kDirect);
  const LayoutPlan plan = *PlanLayouts(*PlanFusion(graph, options), options);
  const auto session = MakeSession(plan, options);
  int64_t folded = 0;
  for (size_t n = 0; n < session->node_count(); ++n) {
    EXPECT_NE(plan.graph.nodes[n].op_type, "BatchNormalization");
    folded += session->kernel(n).folded_flop_count();
  }
  EXPECT_EQ(folded, 16 * 8 * 8);
}

// The residual's memory becomes the result's, so that nothing is copied.
TEST_F(OnednnFusionTest, AResidualIsAddedInPlace) {
  Net net({1, 16, 8, 8});
  GraphBuilder& builder = net.builder();
  const ValueId first = builder.Op("Relu", {net.Conv(net.x(), 16)}, {}, "first");
  const ValueId second = builder.Op("Relu", {net.Conv(first, 16)}, {}, "second");
  const ValueId sum = builder.Op("Add", {net.Conv(second, 16), first}, {}, "add");
  const Graph graph = net.Finish({net.Conv(sum, 16)});
  const SessionOptions options = Onednn(ConvAlgorithm::kDirect);
  const LayoutPlan plan = *PlanLayouts(*PlanFusion(graph, options), options);
  const auto session = MakeSession(plan, options);
  const auto offset = [&](ValueId id) {
    return session->plan().values[static_cast<size_t>(id)].offset;
  };
  EXPECT_EQ(offset(sum), offset(first));
  EXPECT_NE(offset(second), offset(first));
  ExpectSameOutputs(graph, options, 1e-5);
}

// Where Winograd has no such activation, the activation stays a node of its own.
TEST_F(OnednnFusionTest, WinogradIsNotGivenUpForAnActivation) {
  if (TestedOnednnIsa() != Isa::kAvx512) GTEST_SKIP() << "Winograd wants AVX-512";
  Net net({1, 64, 28, 28});
  const Graph graph = net.Finish({net.builder().Op("Tanh", {net.Conv(net.x(), 64)}, {}, "tanh")});
  EXPECT_EQ(PlanFusion(graph, Onednn(ConvAlgorithm::kDirect))->nodes.size(), 1U);
  EXPECT_EQ(PlanFusion(graph, Onednn(ConvAlgorithm::kWinograd))->nodes.size(), 2U);
}

TEST_F(OnednnFusionTest, WinogradTakesResidualsAndRelu) {
  if (TestedOnednnIsa() != Isa::kAvx512) GTEST_SKIP() << "Winograd wants AVX-512";
  Net net({1, 64, 28, 28});
  GraphBuilder& builder = net.builder();
  const ValueId first = builder.Op("Relu", {net.Norm(net.Conv(net.x(), 64))}, {}, "relu");
  const ValueId second = net.Norm(net.Conv(first, 64));
  const Graph graph =
      net.Finish({builder.Op("Relu", {builder.Op("Add", {second, net.x()}, {}, "add")})});
  const SessionOptions options = Onednn(ConvAlgorithm::kWinograd);
  const LayoutPlan plan = *PlanLayouts(*PlanFusion(graph, options), options);
  const auto session = MakeSession(plan, options);
  int convolutions = 0;
  for (size_t n = 0; n < session->node_count(); ++n) {
    if (plan.graph.nodes[n].op_type != "Conv") continue;
    ++convolutions;
    EXPECT_THAT(session->kernel(n).implementation(), HasSubstr("wino"));
    EXPECT_THAT(PartNames(plan.graph.nodes[n]), Not(IsEmpty()));
  }
  EXPECT_EQ(convolutions, 2);
  ExpectSameOutputs(graph, options, 1e-4);
}

}  // namespace
}  // namespace tinyprof
