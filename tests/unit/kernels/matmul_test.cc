// MatMul and Gemm: values against the double loop, counts against hand counts and the counting
// scalar.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/ops/matmul/determinant.h"
#include "kernels/ops/matmul/reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

OpCase Matmul(Shape a, Shape b, int64_t k) {
  return {.op_type = "MatMul",
          .inputs = {Activation(std::move(a)), WeightOf(std::move(b))},
          .dot_length = k};
}

OpCase Gemm(Shape a, Shape b, Attributes attributes, int64_t k) {
  return {.op_type = "Gemm",
          .attributes = std::move(attributes),
          .inputs = {Activation(std::move(a)), WeightOf(std::move(b))},
          .dot_length = k};
}

void ExpectShape(const OpCase& op_case, const Shape& want) {
  const auto types = InferCase(op_case);
  ASSERT_TRUE(types.has_value()) << types.error().message;
  EXPECT_EQ((*types)[0].shape, want);
}

void ExpectRefused(const OpCase& op_case, const std::string& reason) {
  const auto types = InferCase(op_case);
  ASSERT_FALSE(types.has_value());
  EXPECT_EQ(types.error().reason, reason) << types.error().message;
  EXPECT_EQ(types.error().code, ErrorCode::kInvalidArgument);
}

TEST(MatmulTest, EveryKernelAgreesWithTheDoubleLoop) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                {7, 5, 3},
                                {1, 130, 77},
                                {130, 1, 77},
                                {33, 49, 65},
                                {64, 200, 500},
                                {200, 97, 31}}) {
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
    CheckOp(Matmul({m, k}, {k, n}, k));
  }
}

// Every remainder of a tile, and products that are cut along each side; weights known ahead or only
// by the run, and all ways to transpose.
TEST(MatmulTest, EveryKernelAgreesAtTheBordersOfTiles) {
  for (int64_t m = 2; m <= 13; ++m) CheckOp(Matmul({m, 9}, {9, 33}, 9));
  for (const int64_t n : {3, 4, 7, 8, 9, 15, 16, 17, 24, 31, 32, 47, 48}) {
    SCOPED_TRACE(testing::Message() << n << " columns");
    CheckOp(Matmul({13, 12}, {12, n}, 12));
  }
  for (const int64_t k : {255, 256, 257, 520}) CheckOp(Matmul({14, k}, {k, 40}, k));
  CheckOp(Matmul({250, 300}, {300, 70}, 300));
  CheckOp(Matmul({3, 260}, {260, 2500}, 260));
}

TEST(MatmulTest, OperandsOfTheRunAndTransposedOnes) {
  for (const int64_t transposed : {0, 1, 2, 3}) {
    const bool transpose_a = (transposed & 1) != 0;
    const bool transpose_b = (transposed & 2) != 0;
    SCOPED_TRACE(testing::Message() << "transA " << transpose_a << " transB " << transpose_b);
    OpCase op_case = Gemm(
        transpose_a ? Shape{270, 29} : Shape{29, 270},
        transpose_b ? Shape{75, 270} : Shape{270, 75},
        {{"transA", int64_t{transpose_a}}, {"transB", int64_t{transpose_b}}, {"alpha", 0.5F}}, 270);
    CheckOp(op_case);
    op_case.inputs[1] = Activation(op_case.inputs[1].type.shape);
    CheckOp(op_case);
  }
}

TEST(MatmulTest, BroadcastsBatchesAsNumpyDoes) {
  CheckOp(Matmul({3, 2, 5, 7}, {7, 9}, 7));
  CheckOp(Matmul({5, 7}, {3, 2, 7, 9}, 7));
  CheckOp(Matmul({3, 1, 5, 7}, {2, 7, 9}, 7));
  CheckOp(Matmul({1, 4, 40, 33}, {3, 1, 33, 50}, 33));
  CheckOp(Matmul({12, 64, 64}, {12, 64, 64}, 64));
  ExpectShape(Matmul({3, 1, 5, 7}, {2, 7, 9}, 7), {3, 2, 5, 9});
}

TEST(MatmulTest, OneDimensionalOperandsDropTheirAxis) {
  ExpectShape(Matmul({7}, {7}, 7), {});
  ExpectShape(Matmul({7}, {3, 7, 9}, 7), {3, 9});
  ExpectShape(Matmul({3, 5, 7}, {7}, 7), {3, 5});
  CheckOp(Matmul({7}, {7}, 7));
  CheckOp(Matmul({7}, {3, 7, 9}, 7));
  CheckOp(Matmul({3, 5, 7}, {7}, 7));
}

TEST(MatmulTest, EmptyAxes) {
  CheckOp(Matmul({3, 0}, {0, 4}, 1));
  CheckOp(Matmul({0, 5}, {5, 4}, 5));
  CheckOp(Matmul({2, 0, 3, 4}, {4, 5}, 4));
  EXPECT_EQ(CostOfCase(Matmul({3, 0}, {0, 4}, 1)).flop_count(), 0);
}

TEST(MatmulTest, ProductOfSmallIntegersIsExact) {
  // [[1 2], [3 4]] * [[5 6], [7 8]], by hand.
  const OpCase op_case{.op_type = "MatMul",
                       .inputs = {FloatsOf({2, 2}, {1, 2, 3, 4}), FloatsOf({2, 2}, {5, 6, 7, 8})},
                       .dot_length = 2};
  EXPECT_EQ(TrueOutputs(op_case)[0], (std::vector<double>{19, 22, 43, 50}));
  CheckOp(op_case);
}

TEST(MatmulTest, RefusesWhatCannotBeMultiplied) {
  ExpectRefused(Matmul({3, 4}, {5, 6}, 4), "SHAPE_MISMATCH");
  ExpectRefused(Matmul({2, 3, 4}, {3, 4, 5}, 4), "SHAPE_MISMATCH");
  ExpectRefused(Matmul({}, {4, 5}, 4), "SHAPE_MISMATCH");
  OpCase mixed = Matmul({3, 4}, {4, 5}, 4);
  mixed.inputs[1].type.dtype = DType::kFloat64;
  ExpectRefused(mixed, "DTYPE_MISMATCH");
  OpCase one_input = Matmul({3, 4}, {4, 5}, 4);
  one_input.inputs.pop_back();
  ExpectRefused(one_input, "BAD_INPUT_COUNT");
}

TEST(MatmulTest, OutputsBeyondTheLimitAreAnError) {
  const int64_t long_axis = int64_t{1} << 39;
  ExpectRefused(Matmul({long_axis, 1}, {1, long_axis}, 1), "BAD_SHAPE");
}

TEST(MatmulTest, CountsOfThePublishedCases) {
  EXPECT_EQ(CostOfCase(Matmul({25, 16}, {16, 9}, 16)).flop_count(), 7200);
  EXPECT_EQ(CostOfCase(Matmul({1, 12, 64, 64}, {1, 12, 64, 64}, 64)).flop_count() * 2, 12582912);
}

TEST(MatmulTest, CountsWhatTheLoopExecutes) {
  CheckCounts(Matmul({3, 1, 5, 7}, {2, 7, 9}, 7), MatmulReference<Counted>);
  CheckCounts(Matmul({7}, {7}, 7), MatmulReference<Counted>);
}

TEST(GemmTest, EveryKernelAgreesForAllTransposes) {
  for (const int64_t m : {1, 6, 70}) {
    for (const int64_t n : {1, 50}) {
      CheckOp(Gemm({m, 37}, {37, n}, {}, 37));
      CheckOp(Gemm({37, m}, {37, n}, {{"transA", int64_t{1}}}, 37));
      CheckOp(Gemm({m, 37}, {n, 37}, {{"transB", int64_t{1}}}, 37));
      CheckOp(Gemm({37, m}, {n, 37}, {{"transA", int64_t{1}}, {"transB", int64_t{1}}}, 37));
    }
  }
}

TEST(GemmTest, BiasBroadcastsAndScales) {
  for (const Shape& bias :
       {Shape{}, Shape{1}, Shape{50}, Shape{1, 50}, Shape{6, 1}, Shape{6, 50}}) {
    SCOPED_TRACE(bias.ToString());
    OpCase op_case = Gemm({6, 37}, {37, 50}, {{"alpha", 0.5F}, {"beta", -3.0F}}, 37);
    op_case.inputs.push_back(WeightOf(bias));
    CheckOp(op_case);
    CheckCounts(op_case, GemmReference<Counted>);
  }
  OpCase bad = Gemm({6, 37}, {37, 50}, {}, 37);
  bad.inputs.push_back(WeightOf({6}));
  ExpectRefused(bad, "SHAPE_MISMATCH");
}

TEST(GemmTest, LargeProductOnBothSplits) {
  CheckOp(Gemm({300, 256}, {70, 256}, {{"transB", int64_t{1}}}, 256));
  CheckOp(Gemm({40, 256}, {600, 256}, {{"transB", int64_t{1}}}, 256));
}

TEST(GemmTest, RefusesOtherRanks) {
  ExpectRefused(Gemm({2, 6, 37}, {37, 50}, {}, 37), "SHAPE_MISMATCH");
  ExpectRefused(Gemm({6, 37}, {50, 37}, {}, 37), "SHAPE_MISMATCH");
}

Cost LinearCost(int64_t batch, int64_t in, int64_t out) {
  OpCase op_case = Gemm({batch, in}, {out, in}, {{"transB", int64_t{1}}}, in);
  op_case.inputs.push_back(WeightOf({out}));
  return CostOfCase(op_case);
}

TEST(GemmTest, CountsOfThePublishedLinearLayers) {
  const Cost linear = LinearCost(32, 1000, 500);
  EXPECT_EQ(linear.flop_count(), 32016000);
  EXPECT_EQ(linear.compulsory_bytes(), 2194000);
  EXPECT_NEAR(linear.arithmetic_intensity(), 14.59, 0.005);

  EXPECT_EQ(LinearCost(1, 768, 3072).flop_count(), 4721664);
  EXPECT_EQ(LinearCost(1, 768, 3072).compulsory_bytes(), 9464832);
  EXPECT_NEAR(LinearCost(1, 768, 3072).arithmetic_intensity(), 0.4989, 5e-5);
  EXPECT_NEAR(LinearCost(32, 768, 3072).arithmetic_intensity(), 15.199, 5e-4);

  EXPECT_EQ(2 * LinearCost(1, 128, 64).flops.mac, 16384);
  EXPECT_EQ(LinearCost(1, 784, 128).flop_count(), 200832);
  EXPECT_EQ(LinearCost(1, 128, 64).flop_count(), 16448);
  EXPECT_EQ(LinearCost(1, 64, 10).flop_count(), 1290);
}

OpCase Det(OpCase::In matrices) {
  return {.op_type = "Det", .inputs = {std::move(matrices)}, .has_eigen_kernel = false};
}

// The elimination in double, for counts of what it executes.
void CountedDet(const NodeSignature& signature, const KernelArgs& args) {
  const int64_t size = signature.input(0).shape.back();
  std::vector<Counted> matrix(static_cast<size_t>(size * size));
  for (int64_t i = 0; i < signature.output().shape.element_count(); ++i) {
    std::copy_n(args.In<Counted>(0) + i * size * size, size * size, matrix.data());
    args.Out<Counted>()[i] = DeterminantOf(size, matrix.data());
  }
}

TEST(Det, ByHand) {
  const auto det = [](Shape shape, const std::vector<float>& elements) {
    return TrueOutputs(Det(FloatsOf(std::move(shape), elements)))[0];
  };
  EXPECT_THAT(det({2, 2, 2}, {0, 1, 2, 3, 1, 2, 2, 4}), testing::ElementsAre(-2, 0));
  // A permutation of the rows of diag(2, 3, 5) by a cycle of three, which is even.
  EXPECT_THAT(det({3, 3}, {0, 3, 0, 0, 0, 5, 2, 0, 0}), testing::ElementsAre(30));
  EXPECT_THAT(det({1, 1}, {7}), testing::ElementsAre(7));
  EXPECT_THAT(det({2, 0, 0}, {}), testing::ElementsAre(1, 1));
}

TEST(Det, AgreesAndCostsWhatItExecutes) {
  for (const int64_t size : {1, 2, 3, 7, 20}) {
    OpCase op_case = Det(Activation({3, size, size}));
    op_case.tolerance = 1e-3;
    CheckOp(op_case);
    CheckCounts(op_case, &CountedDet);
  }
  EXPECT_EQ(RefusalOf(Det(Activation({2, 3}))).reason, "SHAPE_MISMATCH");
}

}  // namespace
}  // namespace tinyprof
