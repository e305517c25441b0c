// The search for the fastest kernels: what it tries, what it must not change, and that a network
// runs the same by what it finds. Which kernel wins is the machine's business and is not asserted.
#include "kernels/runtime/best_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/graph/graph_builder.h"
#include "kernels/runtime/run_plan.h"
#include "kernels/zoo/zoo.h"
#include "tests/unit/kernels/op_test_util.h"
#include "tests/unit/kernels/true_outputs.h"

namespace tinyprof {
namespace {

using ::testing::Contains;
using ::testing::Not;

SessionOptions Best(int threads = 1, ConvAlgorithm algorithm = ConvAlgorithm::kAuto) {
  return {.backend = Backend::kBest,
          .isa = TestedOnednnIsa(),
          .threads = threads,
          .conv_algorithm = algorithm};
}

void ExpectSameOutputs(const Graph& graph, const SessionOptions& options, bool fuse,
                       double tolerance) {
  const Result<RunPlan> plan = PlanRun(graph, options, fuse);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  const auto session = Session::Create(plan->graph, plan->options);
  ASSERT_TRUE(session.has_value()) << session.error().message;
  ASSERT_EQ(plan->graph.outputs.size(), graph.outputs.size());
  ExpectTrueOutputs(graph, **session, tolerance);
}

TEST(PlanBest, NetworksRunTheSame) {
  for (const char* name : {"mlp", "lenet", "resnet18:image=32", "tinygpt:layers=1"}) {
    for (const bool fuse : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", name, fuse ? "fused" : ""));
      // Winograd's convolution loses some digits.
      ExpectSameOutputs(*BuildZooModel(name, 1, 1), Best(), fuse, 1e-3);
    }
  }
  ExpectSameOutputs(*BuildZooModel("lenet", 2, 1), Best(2), false, 1e-3);
}

TEST(PlanBest, ChoosesForEveryNodeAndTellsWhatItTried) {
  const Graph graph = *BuildZooModel("lenet", 1, 1);
  const Result<RunPlan> plan = PlanBest(graph, Best());
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  ASSERT_EQ(plan->options.choices.size(), plan->graph.nodes.size());
  ASSERT_EQ(plan->timings.size(), plan->graph.nodes.size());
  size_t own_nodes = 0;
  for (size_t n = 0; n < plan->graph.nodes.size(); ++n) {
    if (plan->graph.nodes[n].op_type == "Reorder") {
      EXPECT_TRUE(plan->timings[n].empty());
      continue;
    }
    SCOPED_TRACE(plan->graph.nodes[n].name);
    EXPECT_EQ(plan->graph.nodes[n].name, graph.nodes[own_nodes++].name);
    ASSERT_FALSE(plan->timings[n].empty());
    const KernelChoice& chosen = plan->options.choices[n];
    EXPECT_TRUE(std::any_of(plan->timings[n].begin(), plan->timings[n].end(),
                            [&](const KernelTiming& tried) { return tried.choice == chosen; }));
  }
  EXPECT_EQ(own_nodes, graph.nodes.size());
}

std::set<Backend> BackendsTried(const std::vector<KernelTiming>& timings) {
  std::set<Backend> backends;
  for (const KernelTiming& timing : timings) backends.insert(timing.choice.backend);
  return backends;
}

Graph OneConv(int64_t channels, int64_t image) {
  GraphBuilder builder("conv", "layers");
  const ValueId x =
      builder.Input("x", {DType::kFloat32, {1, channels, image, image}}, Fill::Uniform(1, 0));
  const ValueId w = builder.Weight("w", {channels, channels, 3, 3}, 0.1);
  return *std::move(builder).Finish(
      {builder.Op("Conv", {x, w}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}})});
}

// Constants are folded at import: such a model may have no node left.
TEST(PlanBest, NetworksWithoutNodesRunInEveryBackend) {
  GraphBuilder builder("constant", "test");
  const ValueId weight = builder.Weight("w", {2, 3}, 1);
  const Graph graph = *std::move(builder).Finish({weight});
  for (const Backend backend : {Backend::kReference, Backend::kEigen, Backend::kBest}) {
    SessionOptions options = Best();
    options.backend = backend;
    ExpectSameOutputs(graph, options, false, 0);
  }
}

TEST(KernelRace, TriesEveryBackendThatIsWorthIt) {
  const bool has_onednn = CheckOnednnIsBuilt().has_value();
  if (has_onednn) {
    ASSERT_TRUE(PrepareOnednn(TestedOnednnIsa()).has_value());
  }
  const Graph small = OneConv(4, 8);
  KernelRace race(Best(), has_onednn);
  const auto timings = *race.Of(small, small.nodes[0]);
  const std::set<Backend> tried = BackendsTried(timings);
  EXPECT_THAT(tried, Contains(Backend::kReference));
  EXPECT_THAT(tried, Contains(Backend::kEigen));
  EXPECT_EQ(tried.contains(Backend::kOnednn), has_onednn);
  for (size_t i = 0; i < timings.size(); ++i) {
    EXPECT_GT(timings[i].median_ns, 0);
    EXPECT_FALSE(timings[i].implementation.empty());
    if (i > 0) {
      EXPECT_LE(timings[i - 1].median_ns, timings[i].median_ns);
    }
  }
  // 2 * 9 * 64 * 64 * 32 * 32 FLOPs: 75 million.
  const Graph large = OneConv(64, 32);
  EXPECT_THAT(BackendsTried(*race.Of(large, large.nodes[0])), Not(Contains(Backend::kReference)));
}

TEST(KernelRace, NodesThatAreTheSameAreTriedOnce) {
  GraphBuilder builder("twins", "layers");
  ValueId x = builder.Input("x", {DType::kFloat32, {4, 1000}}, Fill::Uniform(1, 0));
  for (int i = 0; i < 2; ++i) x = builder.Op("Relu", {x});
  const Graph graph = *std::move(builder).Finish({x});
  KernelRace race(Best(), false);
  const auto first = *race.Of(graph, graph.nodes[0]);
  const auto second = *race.Of(graph, graph.nodes[1]);
  ASSERT_EQ(first.size(), second.size());
  // Two measurements never agree to the last bit.
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].median_ns, second[i].median_ns);
}

// An index that a node before it makes is 0 there, which every table has.
TEST(KernelRace, IntegersThatTheNetworkMakesAreInRange) {
  GraphBuilder builder("lookup", "layers");
  const ValueId x = builder.Input("x", {DType::kFloat32, {3, 5}}, Fill::Uniform(1, 0));
  const ValueId ids = builder.Op("ArgMax", {x}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  const ValueId table = builder.Weight("table", {5, 7}, 1);
  const Graph graph = *std::move(builder).Finish({builder.Op("Gather", {table, ids})});
  KernelRace race(Best(), false);
  for (const Node& node : graph.nodes) EXPECT_TRUE(race.Of(graph, node).has_value());
}

TEST(PlanBest, LargeTeamsGoWithoutOnednn) {
  const Graph graph = *BuildZooModel("lenet", 1, 1);
  const Result<RunPlan> plan = PlanBest(graph, Best(kMaxOnednnThreads + 1));
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  for (const KernelChoice& choice : plan->options.choices) {
    EXPECT_NE(choice.backend, Backend::kOnednn);
  }
}

}  // namespace
}  // namespace tinyprof
