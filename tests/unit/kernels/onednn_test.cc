// The oneDNN backend: which nodes it has a kernel for, what a session makes of it, and its
// refusals. That the kernels are right is checked with every other kernel's, by CheckOp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/graph/graph_builder.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/runtime/session.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Ints = std::vector<int64_t>;

class OnednnTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!CheckOnednnIsBuilt().has_value()) GTEST_SKIP() << "this build has no oneDNN";
    ASSERT_TRUE(PrepareOnednn(TestedOnednnIsa()).has_value());
  }
};

// x (1 x 3 x 17 x 13), a convolution to 10 channels, Relu, an Erf that oneDNN has not got, Softmax.
Graph SmallNet() {
  GraphBuilder builder("net", "layers");
  const ValueId x = builder.Input("x", {DType::kFloat32, {1, 3, 17, 13}}, Fill::Uniform(1, 0));
  ValueId y =
      builder.Op("Conv", {x, builder.Weight("w", {10, 3, 3, 3}, 1)}, {{"pads", Ints{1, 1, 1, 1}}});
  y = builder.Op("Relu", {y});
  y = builder.Op("Erf", {y});
  y = builder.Op("Softmax", {y});
  return *std::move(builder).Finish({y});
}

Result<std::unique_ptr<Session>> Create(const Graph& graph,
                                        int64_t memory_limit_bytes = INT64_MAX) {
  return Session::Create(graph, {.backend = Backend::kOnednn,
                                 .isa = TestedOnednnIsa(),
                                 .memory_limit_bytes = memory_limit_bytes});
}

TEST(OnednnAbsent, IsRefusedInOneSentence) {
  if (CheckOnednnIsBuilt().has_value()) GTEST_SKIP() << "this build has oneDNN";
  const Graph graph = SmallNet();
  const auto session = Create(graph);
  ASSERT_FALSE(session.has_value());
  EXPECT_EQ(session.error().reason, "NO_ONEDNN");
  EXPECT_EQ(session.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(session.error().message, HasSubstr("libdnnl-dev"));
}

TEST_F(OnednnTest, RefusesLargerTeamsThanItKeeps) {
  const Graph graph = SmallNet();
  const auto session =
      Session::Create(graph, {.backend = Backend::kOnednn, .isa = TestedOnednnIsa(), .threads = 3});
  ASSERT_FALSE(session.has_value());
  EXPECT_EQ(session.error().reason, "BAD_THREADS");
}

TEST_F(OnednnTest, FallsBackLayerByLayerAndSaysSo) {
  const Graph graph = SmallNet();
  const auto truth = *Session::Create(graph, {.backend = Backend::kReference});
  const auto session = *Create(graph);
  EXPECT_EQ(session->backend(0), Backend::kOnednn);
  EXPECT_EQ(session->backend(1), Backend::kOnednn);
  EXPECT_EQ(session->backend(2), Backend::kEigen);
  EXPECT_EQ(session->backend(3), Backend::kOnednn);
  truth->RunAll();
  for (int pass = 0; pass < 2; ++pass) session->RunAll();
  for (int64_t i = 0; i < session->output(0).element_count(); ++i) {
    EXPECT_NEAR(session->output(0).As<float>()[i], truth->output(0).As<float>()[i], 1e-5);
  }
}

TEST_F(OnednnTest, NodesOfOtherTypesAreLeftToOthers) {
  GraphBuilder builder("double", "layers");
  const ValueId x = builder.Input("x", {DType::kFloat64, {2, 3}}, Fill::Constant(2));
  const ValueId w = builder.Parameter("w", {DType::kFloat64, {3, 2}}, Fill::Constant(5));
  const Graph graph = *std::move(builder).Finish({builder.Op("MatMul", {x, w})});
  const auto session = *Create(graph);
  EXPECT_EQ(session->backend(0), Backend::kReference);
}

TEST_F(OnednnTest, CodeIsMadeForTheIsaThatWasAskedFor) {
  const std::string name =
      OnednnImplementation({.op_type = "Relu", .inputs = {Activation({2, 5, 9})}});
  switch (TestedOnednnIsa()) {
    case Isa::kBaseline:
      EXPECT_THAT(name, Not(HasSubstr("avx")));
      break;
    case Isa::kAvx2:
      EXPECT_THAT(name, Not(HasSubstr("avx512")));
      break;
    case Isa::kAvx512:
      EXPECT_THAT(name, HasSubstr("avx512_core"));
      break;
  }
  EXPECT_EQ(PrepareOnednn(TestedOnednnIsa() == Isa::kBaseline ? Isa::kAvx2 : Isa::kBaseline)
                .error()
                .reason,
            "ISA_IS_FIXED");
}

// What the backend is there for has to be done by it, odd sizes included.
TEST_F(OnednnTest, HasTheseKernels) {
  const auto conv = [](Shape x, Shape w, Attributes attributes) {
    return OpCase{.op_type = "Conv",
                  .attributes = std::move(attributes),
                  .inputs = {Activation(std::move(x)), WeightOf(w), WeightOf({w[0]})}};
  };
  const Attributes pooled = {{"kernel_shape", Ints{3, 2}}, {"pads", Ints{1, 0, 1, 1}}};
  const std::vector<OpCase> cases = {
      conv({2, 3, 11, 9}, {7, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 1}}}),
      conv({1, 6, 11, 10}, {6, 1, 3, 3}, {{"group", int64_t{6}}}),
      conv({2, 6, 11, 10}, {8, 3, 3, 3}, {{"group", int64_t{2}}, {"dilations", Ints{2, 2}}}),
      conv({2, 4, 50}, {6, 4, 5}, {}),
      conv({1, 3, 5, 6, 7}, {4, 3, 3, 2, 3}, {}),
      {.op_type = "ConvTranspose",
       .attributes = {{"strides", Ints{2, 2}}, {"output_padding", Ints{1, 0}}},
       .inputs = {Activation({1, 5, 7, 6}), WeightOf({5, 3, 3, 4}), WeightOf({3})}},
      {.op_type = "MatMul", .inputs = {Activation({5, 17}), WeightOf({17, 9})}},
      {.op_type = "MatMul", .inputs = {Activation({2, 3, 5, 17}), Activation({3, 17, 9})}},
      {.op_type = "MatMul", .inputs = {Activation({1, 17}), WeightOf({17, 9})}},
      {.op_type = "Gemm",
       .attributes = {{"transB", int64_t{1}}},
       .inputs = {Activation({5, 17}), WeightOf({9, 17}), WeightOf({9})}},
      {.op_type = "MaxPool", .attributes = pooled, .inputs = {Activation({2, 5, 9, 7})}},
      {.op_type = "AveragePool", .attributes = pooled, .inputs = {Activation({2, 5, 9, 7})}},
      {.op_type = "GlobalAveragePool", .inputs = {Activation({2, 5, 9, 7})}},
      {.op_type = "BatchNormalization",
       .inputs = {Activation({2, 5, 9, 7}), WeightOf({5}), WeightOf({5}), WeightOf({5}),
                  WeightOf({5})}},
      {.op_type = "LayerNormalization", .inputs = {Activation({2, 5, 9}), WeightOf({9})}},
      {.op_type = "Softmax", .inputs = {Activation({2, 5, 9})}},
      {.op_type = "LogSoftmax", .inputs = {Activation({2, 5, 9})}},
      {.op_type = "Relu", .inputs = {Activation({2, 5, 9})}},
      {.op_type = "HardSwish", .inputs = {Activation({2, 5, 9})}},
      {.op_type = "Gelu", .inputs = {Activation({2, 5, 9})}},
      {.op_type = "Add", .inputs = {Activation({2, 5, 9}), Activation({2, 5, 9})}},
      {.op_type = "Mul", .inputs = {Activation({5, 1}), Activation({2, 5, 9})}},
  };
  for (const OpCase& op_case : cases) {
    EXPECT_NE(OnednnImplementation(op_case), "")
        << op_case.op_type << " " << op_case.inputs[0].type.shape.ToString();
  }
}

TEST_F(OnednnTest, PackedWeightsCountInTheMemoryLimit) {
  if (TestedOnednnIsa() != Isa::kAvx512) GTEST_SKIP() << "only AVX-512 packs matrices";
  GraphBuilder builder("linear", "layers");
  const ValueId x = builder.Input("x", {DType::kFloat32, {33, 65}}, Fill::Uniform(1, 0));
  const ValueId y = builder.Op("MatMul", {x, builder.Weight("w", {65, 127}, 1)});
  const Graph graph = *std::move(builder).Finish({y});
  const auto session = *Create(graph);
  // A copy of the whole of it, with no padding worth more than that.
  EXPECT_GE(session->packed_bytes(), 65 * 127 * 4);
  EXPECT_LE(session->packed_bytes(), 2 * 65 * 127 * 4);
  EXPECT_EQ(session->packed_bytes(0), session->packed_bytes());
  const int64_t bytes =
      session->weight_bytes() + session->packed_bytes() + session->plan().arena_bytes;
  EXPECT_TRUE(Create(graph, bytes).has_value());
  const auto refused = Create(graph, bytes - 1);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, "MODEL_TOO_LARGE");
  EXPECT_THAT(refused.error().message, HasSubstr("packed"));
}

}  // namespace
}  // namespace tinyprof
