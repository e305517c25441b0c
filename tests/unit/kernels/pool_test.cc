// The pools: values against the double loop and by hand, counts against the counting scalar.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/ops/pool/reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using Ints = std::vector<int64_t>;

OpCase Pool(std::string type, Shape x, Attributes attributes) {
  return {.op_type = std::move(type),
          .attributes = std::move(attributes),
          .inputs = {Activation(std::move(x))},
          .tolerance = 1e-6};
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
}

TEST(PoolTest, EveryKernelAgrees) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    CheckOp(Pool(type, {2, 3, 8, 9}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}));
    CheckOp(
        Pool(type, {1, 70, 30, 31},
             {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}));
    CheckOp(Pool(type, {1, 2, 9, 11}, {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{3, 1}}}));
    CheckOp(Pool(type, {1, 2, 12, 13}, {{"kernel_shape", Ints{3, 2}}, {"dilations", Ints{2, 3}}}));
    CheckOp(Pool(type, {2, 2, 40}, {{"kernel_shape", Ints{5}}, {"pads", Ints{2, 0}}}));
    CheckOp(
        Pool(type, {1, 2, 5, 6, 7}, {{"kernel_shape", Ints{2, 3, 2}}, {"strides", Ints{1, 2, 3}}}));
    CheckOp(Pool(type, {1, 2, 7, 7},
                 {{"kernel_shape", Ints{3, 3}},
                  {"strides", Ints{2, 3}},
                  {"ceil_mode", int64_t{1}},
                  {"pads", Ints{1, 0, 1, 0}}}));
    CheckOp(Pool(type, {1, 2, 7, 7},
                 {{"kernel_shape", Ints{3, 3}}, {"auto_pad", std::string("SAME_LOWER")}}));
  }
  CheckOp(Pool("AveragePool", {1, 2, 7, 8},
               {{"kernel_shape", Ints{3, 3}},
                {"strides", Ints{2, 2}},
                {"ceil_mode", int64_t{1}},
                {"pads", Ints{1, 1, 0, 1}},
                {"count_include_pad", int64_t{1}}}));
}

TEST(PoolTest, GlobalPools) {
  for (const char* type : {"GlobalMaxPool", "GlobalAveragePool"}) {
    CheckOp(Pool(type, {2, 5, 7, 7}, {}));
    CheckOp(Pool(type, {1, 64, 33}, {}));
    ExpectShape(Pool(type, {2, 5, 7, 9}, {}), {2, 5, 1, 1});
    ExpectRefused(Pool(type, {2, 5, 0, 9}, {}), "SHAPE_MISMATCH");
    ExpectRefused(Pool(type, {2, 5}, {}), "SHAPE_MISMATCH");
  }
}

OpCase OfFloats(std::string type, const std::vector<float>& x, Attributes attributes) {
  return {.op_type = std::move(type),
          .attributes = std::move(attributes),
          .inputs = {FloatsOf({1, 1, static_cast<int64_t>(x.size())}, x)}};
}

TEST(PoolTest, AverageDivisorsByHand) {
  const Attributes padded = {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}, {"strides", Ints{3}}};
  Attributes with_pads = padded;
  with_pads["count_include_pad"] = int64_t{1};
  EXPECT_EQ(TrueOutputs(OfFloats("AveragePool", {6, 12, 9}, padded))[0], (std::vector<double>{9}));
  EXPECT_EQ(TrueOutputs(OfFloats("AveragePool", {6, 12, 9}, with_pads))[0],
            (std::vector<double>{6}));
  // In ceil mode the last window hangs over the end by an element that nobody counts.
  const Attributes ceil = {{"kernel_shape", Ints{2}},
                           {"strides", Ints{2}},
                           {"ceil_mode", int64_t{1}},
                           {"count_include_pad", int64_t{1}}};
  EXPECT_EQ(TrueOutputs(OfFloats("AveragePool", {2, 4, 5}, ceil))[0], (std::vector<double>{3, 5}));
}

TEST(PoolTest, MaximumOfNegativeNumbersAndNan) {
  const Attributes padded = {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}};
  const OpCase negative = OfFloats("MaxPool", {-5, -7, -1}, padded);
  EXPECT_EQ(TrueOutputs(negative)[0], (std::vector<double>{-5, -5, -1, -1}));
  CheckOp(negative);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (OpCase op_case : {OfFloats("MaxPool", {1, nan, 3, 4}, padded),
                         OfFloats("GlobalMaxPool", {1, nan, 3, 4}, {})}) {
    op_case.onednn_agrees = false;  // its maximum overlooks what is no number
    CheckOp(op_case);
  }
}

TEST(PoolTest, RefusesWhatDoesNotFit) {
  ExpectRefused(Pool("MaxPool", {1, 2, 7, 7}, {}), "BAD_ATTRIBUTE");
  ExpectRefused(Pool("MaxPool", {1, 2, 7, 7}, {{"kernel_shape", Ints{3}}}), "BAD_ATTRIBUTE");
  ExpectRefused(Pool("MaxPool", {1, 2, 7, 7}, {{"kernel_shape", Ints{8, 8}}}), "SHAPE_MISMATCH");
  ExpectRefused(Pool("MaxPool", {1, 2, 7}, {{"kernel_shape", Ints{2}}, {"pads", Ints{2, 0}}}),
                "SHAPE_MISMATCH");
  // The middle window has its taps on both sides of the only element.
  ExpectRefused(Pool("AveragePool", {1, 1, 1},
                     {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}, {"pads", Ints{2, 2}}}),
                "SHAPE_MISMATCH");
}

TEST(PoolTest, CountsWhatTheLoopExecutes) {
  const Attributes window = {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 1}}};
  CheckCounts(Pool("MaxPool", {2, 3, 8, 9}, window), MaxPoolReference<Counted, PoolShapeOf>);
  CheckCounts(Pool("AveragePool", {2, 3, 8, 9}, window),
              AveragePoolReference<Counted, PoolShapeOf>);
  CheckCounts(Pool("GlobalMaxPool", {2, 3, 8, 9}, {}),
              MaxPoolReference<Counted, GlobalPoolShapeOf>);
  CheckCounts(Pool("GlobalAveragePool", {2, 3, 8, 9}, {}),
              AveragePoolReference<Counted, GlobalPoolShapeOf>);
  // 64 channels of 56 x 56 windows of 9 taps, pads counted as taps.
  EXPECT_EQ(
      CostOfCase(
          Pool("MaxPool", {1, 64, 112, 112},
               {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}))
          .flops.minmax,
      64 * 56 * 56 * 8);
}

TEST(Pool, MaximaComeWithTheirPlaces) {
  OpCase op_case{
      .op_type = "MaxPool",
      .attributes = {{"kernel_shape", std::vector<int64_t>{2, 2}},
                     {"strides", std::vector<int64_t>{2, 2}}},
      .inputs = {FloatsOf({1, 2, 2, 4}, {1, 2, 3, 4, 5, 0, 9, 9, 0, 0, 0, 0, 7, 0, 0, 8})},
      .output_count = 2};
  EXPECT_THAT(TrueOutputs(op_case), testing::ElementsAre(testing::ElementsAre(5, 9, 7, 8),
                                                         testing::ElementsAre(4, 6, 12, 15)));
  // Counted column by column: 4 rows of 2 are 2 columns of 4.
  op_case.attributes["storage_order"] = int64_t{1};
  EXPECT_THAT(TrueOutputs(op_case)[1], testing::ElementsAre(1, 5, 9, 15));
}

TEST(Pool, UnpoolPutsMaximaBack) {
  const OpCase::In places = {.type = {DType::kInt64, Shape{1, 1, 1, 2}},
                             .fill = Fill::Int64s({5, 1000})};
  const OpCase op_case{.op_type = "MaxUnpool",
                       .attributes = {{"kernel_shape", std::vector<int64_t>{2, 2}},
                                      {"strides", std::vector<int64_t>{2, 2}}},
                       .inputs = {FloatsOf({1, 1, 1, 2}, {3, 4}), places},
                       .has_eigen_kernel = false};
  CheckOp(op_case);
  // An index outside of the 2 x 4 plane is that of its last element.
  EXPECT_THAT(TrueOutputs(op_case)[0], testing::ElementsAre(0, 0, 0, 0, 0, 3, 0, 4));
}

}  // namespace
}  // namespace tinyprof
