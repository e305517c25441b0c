#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/runtime/session.h"
#include "tests/unit/kernels/op_test_case.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;

OpCase::In Bytes(Shape shape, const std::vector<int>& elements, DType dtype = DType::kUInt8) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (const int element : elements) bytes->push_back(static_cast<std::byte>(element));
  return {.type = {dtype, std::move(shape)},
          .fill = {.kind = Fill::Kind::kData, .data = std::move(bytes)}};
}

// The first output in every backend, which have to agree, as numbers. (CheckOp widens all floats,
// but scales are float32.)
std::vector<double> Output(const OpCase& op_case) {
  const Result<Graph> graph = BuildGraph(op_case);
  if (!graph) {
    ADD_FAILURE() << graph.error().message;
    return {};
  }
  std::vector<std::vector<double>> outputs;
  for (const Backend backend : {Backend::kReference, Backend::kEigen}) {
    const Result<std::unique_ptr<Session>> session = Session::Create(*graph, {.backend = backend});
    if (!session) {
      ADD_FAILURE() << session.error().message;
      return {};
    }
    (*session)->FillInputs();
    (*session)->RunAll();
    const ConstTensorView view = (*session)->output(0);
    outputs.push_back(ToDoubles(view.type.dtype, view.data, view.element_count()));
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  return outputs[0];
}

OpCase Case(const std::string& type, std::vector<OpCase::In> inputs, size_t output_count = 1) {
  return {.op_type = type,
          .inputs = std::move(inputs),
          .output_count = output_count,
          .has_eigen_kernel = false};
}

OpCase::In Scale(float value) { return FloatsOf({}, {value}); }

TEST(Quantize, MatmulIntegerTakesOffTheZeroPoints) {
  // (A - 12) and B of the ONNX operator's own example.
  const OpCase op_case =
      Case("MatMulInteger", {Bytes({4, 3}, {11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0}),
                             Bytes({3, 2}, {1, 4, 2, 5, 3, 6}), Bytes({}, {12})});
  CheckOp(op_case);
  EXPECT_THAT(Output(op_case), ElementsAre(-38, -83, -44, -98, -50, -113, -56, -128));
  const Cost cost = CostOfCase(op_case);
  EXPECT_EQ(cost.int_op_count, 2 * 4 * 3 * 2);
  EXPECT_EQ(cost.flop_count(), 0);
}

TEST(Quantize, MatmulIntegerTakesAZeroPointForEachRowAndColumn) {
  const OpCase op_case = Case("MatMulInteger", {Bytes({2, 1}, {5, 7}), Bytes({1, 2}, {3, 9}),
                                                Bytes({2}, {1, 2}), Bytes({2}, {1, 4})});
  CheckOp(op_case);
  EXPECT_THAT(Output(op_case), ElementsAre(4 * 2, 4 * 5, 5 * 2, 5 * 5));
}

TEST(Quantize, ConvIntegerByHand) {
  const OpCase op_case = Case("ConvInteger", {Bytes({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10}),
                                              Bytes({1, 1, 2, 2}, {1, 1, 1, 1}), Bytes({}, {1})});
  CheckOp(op_case);
  EXPECT_THAT(Output(op_case), ElementsAre(12, 16, 24, 28));
  EXPECT_EQ(CostOfCase(op_case).int_op_count, 2 * 4 * 4);
}

TEST(Quantize, QLinearProductsRoundAndSaturate) {
  const auto matmul = [](float y_scale) {
    return Case("QLinearMatMul",
                {Bytes({1, 2}, {10, 20}), Scale(0.5F), Bytes({}, {0}), Bytes({2, 1}, {3, 4}),
                 Scale(1), Bytes({}, {1}), Scale(y_scale), Bytes({}, {7})});
  };
  // 10 * 2 + 20 * 3 = 80 at 0.5.
  EXPECT_THAT(Output(matmul(1)), ElementsAre(47));
  EXPECT_THAT(Output(matmul(16)), ElementsAre(9));  // 2.5 goes to the even 2
  EXPECT_THAT(Output(matmul(0.01F)), ElementsAre(255));
  const OpCase conv = Case("QLinearConv", {Bytes({1, 1, 1, 2}, {10, 20}), Scale(1), Bytes({}, {0}),
                                           Bytes({2, 1, 1, 1}, {1, 2}), FloatsOf({2}, {1, 0.5F}),
                                           Bytes({}, {0}), Scale(1), Bytes({}, {0})});
  EXPECT_THAT(Output(conv), ElementsAre(10, 20, 10, 20));
}

TEST(Quantize, LinearThereAndBack) {
  const OpCase quantize{
      .op_type = "QuantizeLinear",
      .inputs = {FloatsOf({6}, {0, 2, 3, 1000, -254, -1000}), Scale(2), Bytes({}, {128})},
      .has_eigen_kernel = false};
  EXPECT_THAT(Output(quantize), ElementsAre(128, 129, 130, 255, 1, 0));
  EXPECT_THAT(
      Output(Case("DequantizeLinear", {Bytes({3}, {0, 128, 255}), Scale(2), Bytes({}, {128})})),
      ElementsAre(-256, 0, 254));
  const OpCase by_axis = Case("DequantizeLinear", {Bytes({1, 2, 2}, {1, 2, 3, 4}),
                                                   FloatsOf({2}, {1, 10}), Bytes({2}, {0, 1})});
  EXPECT_THAT(Output(by_axis), ElementsAre(1, 2, 20, 30));
  EXPECT_EQ(CostOfCase(quantize).flops, (FlopClasses{.add_mul_div = 6}));
  const OpCase wrong = Case("QuantizeLinear", {IntsOf({1}), Scale(1)});
  EXPECT_EQ(RefusalOf(wrong).reason, "DTYPE_MISMATCH");
  EXPECT_EQ(RefusalOf(Case("MatMulInteger", {Activation({1, 1}), Activation({1, 1})})).reason,
            "DTYPE_MISMATCH");
}

}  // namespace
}  // namespace tinyprof
