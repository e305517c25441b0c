#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/ops/softmax/reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

OpCase Softmax(const std::string& type, const Shape& shape, int64_t axis) {
  return {.op_type = type, .attributes = {{"axis", axis}}, .inputs = {Activation(shape, 10)}};
}

TEST(Softmax, AgreesAlongEveryAxis) {
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{3, 1}, Shape{17, 37}, Shape{2, 64, 3},
                             Shape{3, 7, 100}, Shape{0, 3}, Shape{3, 0}, Shape{40, 5, 130}}) {
    for (int64_t axis = 0; axis < static_cast<int64_t>(shape.rank()); ++axis) {
      SCOPED_TRACE(shape.ToString() + " axis " + std::to_string(axis));
      CheckOp(Softmax("Softmax", shape, axis));
      CheckOp(Softmax("LogSoftmax", shape, axis));
      CheckCounts(Softmax("Softmax", shape, axis), &SoftmaxReference<Counted>);
      CheckCounts(Softmax("LogSoftmax", shape, axis), &LogSoftmaxReference<Counted>);
    }
  }
}

TEST(Softmax, CostFollowsTheConvention) {
  EXPECT_EQ(CostOfCase(Softmax("Softmax", {4, 100}, 1)).flops,
            (FlopClasses{.add_mul_div = 4 * 200,
                         .minmax = 4 * 99,
                         .transcendental = 4 * 100,
                         .reduction = 4 * 99}));
  EXPECT_EQ(CostOfCase(Softmax("LogSoftmax", {4, 100}, -1)).flops,
            (FlopClasses{.add_mul_div = 4 * 200,
                         .minmax = 4 * 99,
                         .transcendental = 4 * 101,
                         .reduction = 4 * 99}));
}

TEST(Softmax, ByHandAndWithoutOverflow) {
  const OpCase::In x = FloatsOf({2, 2}, {0, std::log(3.0F), 1000, 1000});
  EXPECT_THAT(TrueOutputs({.op_type = "Softmax", .inputs = {x}})[0],
              ElementsAre(DoubleNear(0.25, 1e-7), DoubleNear(0.75, 1e-7), 0.5, 0.5));
  EXPECT_THAT(TrueOutputs({.op_type = "LogSoftmax", .inputs = {x}})[0],
              ElementsAre(DoubleNear(std::log(0.25), 1e-7), DoubleNear(std::log(0.75), 1e-7),
                          DoubleNear(std::log(0.5), 1e-12), DoubleNear(std::log(0.5), 1e-12)));
}

TEST(Softmax, RefusesAxesThatAreNotThere) {
  EXPECT_EQ(RefusalOf(Softmax("Softmax", {3, 4}, 2)).reason, "BAD_AXIS");
  EXPECT_EQ(RefusalOf(Softmax("Softmax", {3, 4}, -3)).reason, "BAD_AXIS");
  EXPECT_EQ(RefusalOf(Softmax("Softmax", {}, 0)).reason, "SHAPE_MISMATCH");
  EXPECT_EQ(RefusalOf({.op_type = "Softmax", .inputs = {IntsOf({1, 2})}}).reason, "DTYPE_MISMATCH");
}

}  // namespace
}  // namespace tinyprof
