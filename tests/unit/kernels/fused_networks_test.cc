// Fused networks give what their nodes give one after the other, in every backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "kernels/graph/fusion.h"
#include "kernels/graph/graph_builder.h"
#include "kernels/runtime/fusion_plan.h"
#include "kernels/runtime/layout_plan.h"
#include "kernels/runtime/session.h"
#include "kernels/zoo/zoo.h"
#include "tests/unit/kernels/fusion_net.h"
#include "tests/unit/kernels/op_test_util.h"
#include "tests/unit/kernels/true_outputs.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Ints = std::vector<int64_t>;

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
  ASSERT_NE(session, nullptr);
  ExpectTrueOutputs(graph, *session, tolerance);
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

TEST(FusedNetworks, RandomConvolutionsRunTheSame) {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    ExpectSameEverywhere(RandomConvNet(seed), 2e-5);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(FusedNetworks, TransposedConvolutionsRunTheSame) {
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

TEST(FusedNetworks, ProductsRunTheSame) {
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
TEST(FusedNetworks, FunctionsMayComeTwice) {
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

TEST(FusedNetworks, ZooNetworksRunTheSame) {
  for (const char* name : {"lenet", "resnet18:image=32", "mlp", "tinygpt:layers=1"}) {
    SCOPED_TRACE(name);
    ExpectSameEverywhere(*BuildZooModel(name, 1, 1), 1e-4);
  }
}

TEST(FusedNetworks, WhatLiesBetweenPartsTakesNoMemory) {
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
