#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;

OpCase::In Indices(DType dtype, Shape shape, int64_t limit) {
  return {.type = {dtype, std::move(shape)}, .fill = Fill::Integers(static_cast<double>(limit), 5)};
}

OpCase Gather(const Shape& table, int64_t axis, OpCase::In indices) {
  return {.op_type = "Gather",
          .attributes = {{"axis", axis}},
          .inputs = {WeightOf(table), std::move(indices)},
          .has_eigen_kernel = false};
}

TEST(Gather, AgreesOnEveryAxisAndIndexType) {
  for (const DType dtype : {DType::kInt32, DType::kInt64}) {
    CheckOp(Gather({100, 64}, 0, Indices(dtype, {3, 17}, 100)));
    CheckOp(Gather({7, 37, 3}, 1, Indices(dtype, {5}, 37)));
    CheckOp(Gather({7, 3, 17}, -1, Indices(dtype, {2, 2}, 17)));
    CheckOp(Gather({7, 3}, 0, Indices(dtype, {}, 7)));
    CheckOp(Gather({7, 3}, 0, Indices(dtype, {0}, 7)));
    CheckOp(Gather({1000, 128}, 0, Indices(dtype, {4, 64}, 1000)));
  }
}

TEST(Gather, NegativeIndicesCountFromTheEndAndOthersAreClamped) {
  OpCase op_case{
      .op_type = "Gather",
      .inputs = {FloatsOf({3, 1}, {10, 20, 30}), IntsOf({-1, 0, 2, 7, -9, INT64_MIN, INT64_MAX})},
      .has_eigen_kernel = false};
  op_case.inputs[1].is_weight = false;
  CheckOp(op_case);
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAre(30, 10, 30, 30, 10, 10, 30));
}

TEST(Gather, KnownIndicesOutOfRangeAreRefused) {
  OpCase op_case{.op_type = "Gather", .inputs = {Activation({5, 3}), IntsOf({0, 5})}};
  const Error error = RefusalOf(op_case);
  EXPECT_EQ(error.reason, "SHAPE_MISMATCH");
  EXPECT_NE(error.message.find("index 5"), std::string::npos) << error.message;
  op_case.inputs[1] = IntsOf({-6});
  EXPECT_EQ(RefusalOf(op_case).reason, "SHAPE_MISMATCH");
  op_case.inputs[1] = IntsOf({-5, 4});
  EXPECT_TRUE(InferCase(op_case).has_value());
}

TEST(Gather, ShapeByHand) {
  EXPECT_EQ(InferCase(Gather({7, 37, 3}, 1, Indices(DType::kInt64, {2, 5}, 37)))->at(0).shape,
            (Shape{7, 2, 5, 3}));
}

TEST(Gather, ReadsTheRowsItTakesAndNotTheTable) {
  const Cost few = CostOfCase(Gather({50000, 64}, 0, Indices(DType::kInt64, {1, 128}, 50000)));
  EXPECT_EQ(few.flop_count(), 0);
  EXPECT_EQ(few.weight_bytes, 128 * 64 * 4);
  EXPECT_EQ(few.input_bytes, 128 * 8);
  EXPECT_EQ(few.output_bytes, 128 * 64 * 4);
  const Cost many = CostOfCase(Gather({10, 64}, 0, Indices(DType::kInt64, {1, 128}, 10)));
  EXPECT_EQ(many.weight_bytes, 10 * 64 * 4);
}

TEST(Gather, RefusesWhatItCannotTake) {
  EXPECT_EQ(RefusalOf(Gather({7, 3}, 2, Indices(DType::kInt64, {1}, 7))).reason, "BAD_AXIS");
  EXPECT_EQ(RefusalOf(Gather({7, 3}, 0, Activation({1}))).reason, "DTYPE_MISMATCH");
  EXPECT_EQ(RefusalOf(Gather({0, 3}, 0, Indices(DType::kInt64, {1}, 1))).reason, "SHAPE_MISMATCH");
  const OpCase huge = Gather({4, 1 << 20}, 0, Indices(DType::kInt64, {1 << 21}, 4));
  EXPECT_EQ(RefusalOf(huge).reason, "SHAPE_MISMATCH");
}

}  // namespace
}  // namespace tinyprof
