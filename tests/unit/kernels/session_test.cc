// The runtime: instruction sets, the team, the memory plan and the session.
#include "kernels/runtime/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kernels/graph/graph_builder.h"
#include "kernels/runtime/isa.h"
#include "kernels/runtime/memory_plan.h"
#include "kernels/runtime/team.h"

namespace tinyprof {
namespace {

// Two linear layers, one weight used twice: x (4 x 16) -> 16 -> 16.
Graph TwoLayers() {
  GraphBuilder builder("two", "layers");
  const ValueId x = builder.Input("x", {DType::kFloat32, {4, 16}}, Fill::Uniform(1, 0));
  const ValueId weight = builder.Weight("w", {16, 16}, 1);
  const ValueId hidden = builder.Op("MatMul", {x, weight});
  const ValueId y = builder.Op("MatMul", {hidden, weight});
  return *std::move(builder).Finish({y});
}

// A chain of pools that halve 1 x 1 x 64, whose activations are 256, 128, 64, 32 bytes.
Graph Chain() {
  GraphBuilder builder("chain", "layers");
  ValueId value = builder.Input("x", {DType::kFloat32, {1, 1, 64}}, Fill::Uniform(1, 0));
  for (int i = 0; i < 3; ++i) {
    value = builder.Op(
        "MaxPool", {value},
        {{"kernel_shape", std::vector<int64_t>{2}}, {"strides", std::vector<int64_t>{2}}});
  }
  return *std::move(builder).Finish({value});
}

TEST(IsaTest, NamesAndHost) {
  ASSERT_FALSE(HostIsas().empty());
  EXPECT_EQ(HostIsas().front(), Isa::kBaseline);
  EXPECT_TRUE(std::is_sorted(HostIsas().begin(), HostIsas().end()));
  EXPECT_EQ(*ResolveIsa("baseline"), Isa::kBaseline);
  EXPECT_EQ(*ResolveIsa("native"), HostIsas().back());
  EXPECT_EQ(*ResolveIsa(""), HostIsas().back());
  EXPECT_EQ(ResolveIsa("sse9").error().reason, "UNKNOWN_ISA");
  for (const Isa isa : HostIsas()) EXPECT_EQ(*ResolveIsa(Name(isa)), isa);
}

TEST(TeamTest, PinsToUsableCoresOnly) {
  const std::vector<int> cores = UsableCores();
  ASSERT_FALSE(cores.empty());
  EXPECT_TRUE(std::is_sorted(cores.begin(), cores.end()));
  EXPECT_TRUE(PinTeam(cores, 1).has_value());
  EXPECT_EQ(PinTeam(cores, static_cast<int>(cores.size()) + 1).error().reason, "TOO_FEW_CPUS");
  EXPECT_EQ(PinTeam(cores, 0).error().reason, "TOO_FEW_CPUS");
  const std::vector<int> absent = {8191};
  EXPECT_EQ(PinTeam(absent, 1).error().reason, "CPU_NOT_ALLOWED");
}

TEST(MemoryPlanTest, ReusesMemoryOfDeadValues) {
  const Graph graph = Chain();
  const std::vector<int64_t> scratch = {0, 100, 0};
  const MemoryPlan plan = *PlanMemory(graph, scratch);
  // The input lives for the whole pass: 256 + 128, 256 + 128 + 64, 256 + 64 + 32.
  EXPECT_EQ(plan.live_bytes, (std::vector<int64_t>{384, 448 + 100, 352}));
  EXPECT_EQ(plan.peak_activation_bytes, 448);
  // Scratch is rounded up to a line: 256 + 128 + 64 + 128.
  EXPECT_EQ(plan.arena_bytes, 576);
}

TEST(MemoryPlanTest, NothingAliveTogetherOverlaps) {
  const Graph graph = Chain();
  const std::vector<int64_t> scratch = {64, 100, 5};
  const MemoryPlan plan = *PlanMemory(graph, scratch);
  for (size_t a = 0; a < plan.values.size(); ++a) {
    const MemoryPlan::Slot& first = plan.values[a];
    EXPECT_EQ(first.offset % 64, 0);
    EXPECT_LE(first.offset + first.byte_size, plan.arena_bytes);
    for (size_t b = 0; b < a; ++b) {
      const MemoryPlan::Slot& second = plan.values[b];
      const bool together =
          first.first_node <= second.last_node && second.first_node <= first.last_node;
      const bool apart = first.offset + first.byte_size <= second.offset ||
                         second.offset + second.byte_size <= first.offset;
      EXPECT_TRUE(!together || apart) << a << " and " << b;
    }
  }
}

TEST(MemoryPlanTest, SizesBeyond63BitsAreAnError) {
  const std::vector<int64_t> scratch = {INT64_MAX, 0, 0};
  EXPECT_EQ(PlanMemory(Chain(), scratch).error().code, ErrorCode::kOutOfRange);
}

TEST(MemoryPlanTest, AGraphWithoutNodes) {
  GraphBuilder builder("empty", "layers");
  const ValueId x = builder.Input("x", {DType::kFloat32, {4}}, Fill::Constant(3));
  const Graph graph = *std::move(builder).Finish({x});
  const auto session = *Session::Create(graph, {});
  session->RunAll();
  EXPECT_EQ(session->output(0).As<float>()[3], 3);
}

TEST(SessionTest, BothBackendsGiveTheSame) {
  const Graph graph = TwoLayers();
  const auto truth = *Session::Create(graph, {.backend = Backend::kReference});
  truth->RunAll();
  for (const Isa isa : HostIsas()) {
    const auto session =
        *Session::Create(graph, {.backend = Backend::kEigen, .isa = isa, .threads = 2});
    for (int pass = 0; pass < 3; ++pass) session->RunAll();
    for (int64_t i = 0; i < 4 * 16; ++i) {
      // Two products of depth 16 with elements below 1: sums below 256, each step 2^-24 of that.
      EXPECT_NEAR(session->output(0).As<float>()[i], truth->output(0).As<float>()[i],
                  256 * 0x1p-19);
    }
  }
  EXPECT_EQ(truth->weight_bytes(), 16 * 16 * 4);
  EXPECT_EQ(truth->kernel(0).implementation(), "naive");
}

TEST(SessionTest, InputsKeepTheirMemoryAndCanBeChanged) {
  const Graph graph = Chain();
  const auto session = *Session::Create(graph, {});
  std::vector<float> before(64);
  std::memcpy(before.data(), session->input(0).data, 256);
  session->RunAll();
  EXPECT_EQ(std::memcmp(before.data(), session->input(0).data, 256), 0);
  session->input(0).As<float>()[7] = 9;
  session->RunAll();
  EXPECT_EQ(session->output(0).As<float>()[0], 9);
  session->FillInputs();
  EXPECT_EQ(std::memcmp(before.data(), session->input(0).data, 256), 0);
}

TEST(SessionTest, MemoryLimitAndThreadsAreChecked) {
  const Graph graph = TwoLayers();
  // 1024 bytes of weights; input, hidden and output are 256 each and alive together in the second.
  EXPECT_TRUE(Session::Create(graph, {.backend = Backend::kReference, .memory_limit_bytes = 1792})
                  .has_value());
  const auto refused =
      Session::Create(graph, {.backend = Backend::kReference, .memory_limit_bytes = 1791});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, "MODEL_TOO_LARGE");
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(Session::Create(graph, {.threads = 0}).error().reason, "BAD_THREADS");
}

TEST(SessionTest, FallsBackToTheNaiveKernelForOtherTypes) {
  GraphBuilder builder("double", "layers");
  const ValueId x = builder.Input("x", {DType::kFloat64, {2, 3}}, Fill::Constant(2));
  const ValueId w = builder.Parameter("w", {DType::kFloat64, {3, 2}}, Fill::Constant(5));
  const ValueId y = builder.Op("MatMul", {x, w});
  const Graph graph = *std::move(builder).Finish({y});
  const auto session = *Session::Create(graph, {.backend = Backend::kEigen});
  session->RunAll();
  EXPECT_EQ(session->kernel(0).implementation(), "naive");
  EXPECT_EQ(session->output(0).As<double>()[3], 30);
}

TEST(SessionTest, BackendNames) {
  EXPECT_EQ(*BackendFromName("reference"), Backend::kReference);
  for (const Backend backend : {Backend::kReference, Backend::kEigen, Backend::kOnednn}) {
    EXPECT_EQ(*BackendFromName(Name(backend)), backend);
  }
  EXPECT_EQ(*BackendFromName("onednn"), Backend::kOnednn);
  EXPECT_EQ(BackendFromName("cuda").error().reason, "UNKNOWN_BACKEND");
}

}  // namespace
}  // namespace tinyprof
