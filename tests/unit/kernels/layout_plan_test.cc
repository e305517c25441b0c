// The plan of layouts: what it inserts, what it must not change, and that a network runs the same
// by it.
#include "kernels/runtime/layout_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/graph/graph_builder.h"
#include "kernels/ops/op.h"
#include "kernels/runtime/session.h"
#include "kernels/zoo/analysis.h"
#include "kernels/zoo/zoo.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Ints = std::vector<int64_t>;

class LayoutPlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!CheckOnednnIsBuilt().has_value()) GTEST_SKIP() << "this build has no oneDNN";
  }
};

SessionOptions Onednn(int threads = 1) {
  return {.backend = Backend::kOnednn, .isa = TestedOnednnIsa(), .threads = threads, .layouts = {}};
}

ValueId Conv(GraphBuilder& builder, ValueId x, int64_t channels, Attributes attributes = {}) {
  const int64_t in = builder.type(x).shape[1];
  const int64_t groups =
      attributes.contains("group") ? std::get<int64_t>(attributes.find("group")->second) : 1;
  attributes["pads"] = Ints{1, 1, 1, 1};
  return builder.Op("Conv",
                    {x, builder.Weight("w", {channels, in / groups, 3, 3},
                                       1 / std::sqrt(9.0 * static_cast<double>(in / groups)))},
                    std::move(attributes));
}

// A block with two branches that meet, a depthwise layer, odd numbers of channels, pools, and a
// tail that wants rows.
Graph BlockNet() {
  GraphBuilder builder("block", "layers");
  const ValueId x = builder.Input("x", {DType::kFloat32, {2, 3, 21, 17}}, Fill::Uniform(1, 0));
  ValueId trunk = builder.Op("Relu", {Conv(builder, x, 24)});
  trunk = builder.Op("MaxPool", {trunk}, {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 2}}});
  ValueId branch = Conv(builder, trunk, 24, {{"group", int64_t{24}}});
  const auto per_channel = [&](double low) {
    return builder.Parameter("p", {DType::kFloat32, {24}}, Fill::Constant(low));
  };
  branch = builder.Op("BatchNormalization", {branch, per_channel(0.5), per_channel(0.1),
                                             per_channel(0.2), per_channel(1.5)});
  branch = Conv(builder, branch, 24);
  const ValueId joined = builder.Op("Add", {branch, trunk});
  const ValueId gate = builder.Op("GlobalAveragePool", {joined});
  const ValueId gated = builder.Op("Mul", {joined, builder.Op("Sigmoid", {gate})});
  const ValueId odd = builder.Op("HardSwish", {Conv(builder, gated, 37)});
  const ValueId flat = builder.Op("Flatten", {odd});
  return *std::move(builder).Finish({flat, odd});
}

int CountReorders(const Graph& graph) {
  return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                        [](const Node& n) { return n.op_type == "Reorder"; }));
}

void ExpectSameOutputs(const Graph& graph, const SessionOptions& options, double tolerance) {
  const LayoutPlan plan = *PlanLayouts(graph, options);
  SessionOptions planned = options;
  planned.layouts = plan.layouts;
  const auto session = Session::Create(plan.graph, planned);
  ASSERT_TRUE(session.has_value()) << session.error().message;
  const auto truth = *Session::Create(
      graph, {.backend = Backend::kEigen, .isa = HostIsas().back(), .layouts = {}});
  truth->RunAll();
  for (int pass = 0; pass < 2; ++pass) (*session)->RunAll();
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const ConstTensorView got = (*session)->output(k);
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

TEST_F(LayoutPlanTest, ANetworkRunsTheSame) {
  for (const int threads : {1, 2}) ExpectSameOutputs(BlockNet(), Onednn(threads), 1e-5);
}

TEST_F(LayoutPlanTest, ZooNetworksRunTheSame) {
  for (const char* name : {"lenet", "resnet18:image=64", "mlp", "tinygpt:layers=1"}) {
    SCOPED_TRACE(name);
    ExpectSameOutputs(*BuildZooModel(name, 1, 1), Onednn(), 1e-4);
  }
}

TEST_F(LayoutPlanTest, ReordersAreLayersThatComputeNothing) {
  const Graph graph = BlockNet();
  const LayoutPlan plan = *PlanLayouts(graph, Onednn());
  ASSERT_EQ(plan.layouts.size(), plan.graph.values.size());
  const auto reorders = static_cast<size_t>(CountReorders(plan.graph));
  EXPECT_GE(reorders, 1U);
  EXPECT_EQ(plan.graph.nodes.size(), graph.nodes.size() + reorders);
  std::set<std::string> names;
  for (const Node& node : plan.graph.nodes) {
    EXPECT_TRUE(names.insert(node.name).second) << node.name;
    if (node.op_type != "Reorder") continue;
    const Cost cost = *CostOf(SignatureOf(plan.graph, node, true));
    EXPECT_EQ(cost.flop_count(), 0);
    // The tensor is read once and written once.
    const int64_t bytes = plan.graph.value(node.outputs[0]).type.byte_size();
    EXPECT_EQ(cost.input_bytes, bytes);
    EXPECT_EQ(cost.output_bytes, bytes);
    EXPECT_EQ(cost.weight_bytes, 0);
    EXPECT_FALSE(AreSame(plan.layouts[static_cast<size_t>(node.inputs[0])],
                         plan.layouts[static_cast<size_t>(node.outputs[0])]));
  }
  const ModelAnalysis before = *Analyze(graph);
  const ModelAnalysis after = *Analyze(plan.graph);
  EXPECT_EQ(after.totals.flops, before.totals.flops);
  EXPECT_EQ(after.parameters.unique, before.parameters.unique);
  EXPECT_EQ(after.tinytorch_flop_count, before.tinytorch_flop_count);
}

TEST_F(LayoutPlanTest, InputsAndOutputsStayRowMajorAndKeepTheirNames) {
  const Graph graph = BlockNet();
  const LayoutPlan plan = *PlanLayouts(graph, Onednn());
  EXPECT_EQ(plan.graph.inputs, graph.inputs);
  ASSERT_EQ(plan.graph.outputs.size(), graph.outputs.size());
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    EXPECT_EQ(plan.layouts[static_cast<size_t>(plan.graph.outputs[i])], nullptr);
    EXPECT_EQ(plan.graph.value(plan.graph.outputs[i]).name, graph.value(graph.outputs[i]).name);
  }
  std::set<std::string> names;
  for (const Value& value : plan.graph.values) {
    if (value.kind != Value::Kind::kActivation) continue;
    EXPECT_TRUE(names.insert(value.name).second) << value.name;
  }
}

// Between the layers of a block nothing has to be rearranged. Which layout it is is up to the
// library: channels last, or in blocks.
TEST_F(LayoutPlanTest, LayoutsAreKeptBetweenLayers) {
  GraphBuilder builder("chain", "layers");
  ValueId y = builder.Input("x", {DType::kFloat32, {1, 64, 14, 14}}, Fill::Uniform(1, 0));
  for (int i = 0; i < 4; ++i) y = builder.Op("Relu", {Conv(builder, y, 64)});
  const Graph graph = *std::move(builder).Finish({y});
  const LayoutPlan plan = *PlanLayouts(graph, Onednn());
  // One on the way in and one on the way out.
  EXPECT_EQ(CountReorders(plan.graph), 2);
  EXPECT_EQ(plan.graph.nodes.front().op_type, "Reorder");
  EXPECT_EQ(plan.graph.nodes.back().op_type, "Reorder");
  const LayoutPtr& layout = plan.layouts[static_cast<size_t>(plan.graph.nodes.front().outputs[0])];
  ASSERT_NE(layout, nullptr);
  EXPECT_THAT(layout->name(), AnyOf("acdb", "aBcd8b", "aBcd16b"));
}

// Winograd's sums of products of sums lose digits: 4 x 4 tiles amplify rounding errors by some
// hundred.
TEST_F(LayoutPlanTest, WinogradIsTakenWhereItIsToBeHad) {
  GraphBuilder builder("chain", "layers");
  ValueId y = builder.Input("x", {DType::kFloat32, {1, 64, 28, 28}}, Fill::Uniform(1, 0));
  y = Conv(builder, Conv(builder, y, 64), 64, {{"strides", Ints{2, 2}}});
  const Graph graph = *std::move(builder).Finish({y});
  const auto implementations = [&](ConvAlgorithm algorithm) {
    SessionOptions options = Onednn();
    options.conv_algorithm = algorithm;
    const LayoutPlan plan = *PlanLayouts(graph, options);
    options.layouts = plan.layouts;
    const auto session = *Session::Create(plan.graph, options);
    std::vector<std::string> names;
    for (size_t n = 0; n < plan.graph.nodes.size(); ++n) {
      if (plan.graph.nodes[n].op_type == "Conv") {
        names.push_back(session->kernel(n).implementation());
      }
    }
    return names;
  };
  EXPECT_THAT(implementations(ConvAlgorithm::kDirect)[0], Not(HasSubstr("wino")));
  if (TestedOnednnIsa() == Isa::kAvx512) {
    EXPECT_THAT(implementations(ConvAlgorithm::kWinograd)[0], HasSubstr("wino"));
  }
  // Strides leave it to the direct way.
  EXPECT_THAT(implementations(ConvAlgorithm::kWinograd)[1], Not(HasSubstr("wino")));
  for (const ConvAlgorithm algorithm : {ConvAlgorithm::kWinograd, ConvAlgorithm::kAuto}) {
    SessionOptions options = Onednn();
    options.conv_algorithm = algorithm;
    ExpectSameOutputs(graph, options, 1e-4);
  }
}

TEST_F(LayoutPlanTest, PaddedChannelsTakeTheirMemory) {
  const Graph graph = BlockNet();
  const LayoutPlan plan = *PlanLayouts(graph, Onednn());
  SessionOptions options = Onednn();
  options.layouts = plan.layouts;
  const auto session = *Session::Create(plan.graph, options);
  for (size_t id = 0; id < plan.layouts.size(); ++id) {
    if (plan.layouts[id] == nullptr || session->plan().values[id].offset < 0) continue;
    EXPECT_EQ(session->plan().values[id].byte_size, plan.layouts[id]->byte_size());
    EXPECT_GE(plan.layouts[id]->byte_size(), plan.graph.values[id].type.byte_size());
  }
}

// Free to choose, the library takes a layout for LeNet's one input channel that it has naive loops
// for only.
TEST_F(LayoutPlanTest, NaiveLoopsAreNotTaken) {
  const Graph graph = *BuildZooModel("lenet", 1, 1);
  SessionOptions options = Onednn();
  const LayoutPlan plan = *PlanLayouts(graph, options);
  options.layouts = plan.layouts;
  const auto session = *Session::Create(plan.graph, options);
  for (size_t node = 0; node < session->node_count(); ++node) {
    EXPECT_THAT(session->kernel(node).implementation(), Not(StartsWith("ref")))
        << plan.graph.nodes[node].name;
  }
}

TEST(LayoutPlan, OtherBackendsAreLeftAlone) {
  const Graph graph = BlockNet();
  const LayoutPlan plan = *PlanLayouts(graph, {.backend = Backend::kEigen, .layouts = {}});
  EXPECT_EQ(plan.graph.nodes.size(), graph.nodes.size());
  EXPECT_TRUE(plan.layouts.empty());
}

// A file may hold a node of that name; only the plan makes them.
TEST(LayoutPlan, NobodyElseMakesReorders) {
  GraphBuilder builder("forged", "layers");
  const ValueId x = builder.Input("x", {DType::kFloat32, {4}}, Fill::Constant(3));
  builder.Op("Reorder", {x});
  ASSERT_FALSE(builder.ok());
  EXPECT_EQ(builder.error()->reason, "UNKNOWN_OPERATOR");
}

}  // namespace
}  // namespace tinyprof
