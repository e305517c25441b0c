#include "kernels/quantization/output_error.h"

#include <gtest/gtest.h>

#include "tests/unit/quantization/small_net.h"

namespace tinyprof {
namespace {

Graph WithOutput(Shape shape) {
  SmallNet net;
  const ValueId x = net.Input("x", std::move(shape));
  const ValueId y = net.Op("Relu", {x});
  return std::move(net).Finish({y});
}

// y = 3, 4 and 0, 0 in two rows; e = 0, 1 and 0.5, 0: sums of squares 25 and 1.25.
TEST(OutputErrorTest, IsWhatItsFormulasSay) {
  const std::vector<OutputError> errors =
      CompareOutputs(WithOutput({2, 2}), {{{3, 4, 0, 0}}}, {{{3, 5, 0.5F, 0}}});
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_DOUBLE_EQ(errors[0].max_abs_error, 1);
  EXPECT_NEAR(errors[0].relative_rms_error.value_or(0), 0.2236068, 1e-7);
  EXPECT_NEAR(errors[0].sqnr_db.value_or(0), 13.0103, 1e-4);
  EXPECT_EQ(errors[0].top1_agreement, 1.0);
}

TEST(OutputErrorTest, RowsThatChangeTheirClassDoNotAgree) {
  const std::vector<OutputError> errors = CompareOutputs(
      WithOutput({1, 2}), {{{1, 2, 2, 1, 5, 1, 0, 1}}}, {{{1, 2, 1, 2, 5, 1, 0, 1}}});
  EXPECT_EQ(errors[0].top1_agreement, 0.75);
  EXPECT_EQ(errors[0].top1_row_count, 4);
}

TEST(OutputErrorTest, WhatCannotBeToldIsAbsent) {
  const std::vector<OutputError> same =
      CompareOutputs(WithOutput({1, 2, 2}), {{{1, 2, 3, 4}}}, {{{1, 2, 3, 4}}});
  EXPECT_EQ(same[0].max_abs_error, 0);
  EXPECT_EQ(same[0].relative_rms_error, 0.0);
  EXPECT_FALSE(same[0].sqnr_db.has_value());
  EXPECT_FALSE(same[0].top1_agreement.has_value());
  const std::vector<OutputError> zeros = CompareOutputs(WithOutput({1}), {{{0}}}, {{{1}}});
  EXPECT_FALSE(zeros[0].relative_rms_error.has_value());
  EXPECT_FALSE(zeros[0].sqnr_db.has_value());
}

}  // namespace
}  // namespace tinyprof
