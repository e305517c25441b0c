#include "kernels/base/checked_math.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

constexpr int64_t kLargest = INT64_MAX;

TEST(CheckedMath, GivesWhatFits) {
  EXPECT_EQ(CheckedMul(int64_t{1} << 31, int64_t{1} << 31).value(), int64_t{1} << 62);
  EXPECT_EQ(CheckedAdd(kLargest - 1, 1).value(), kLargest);
  EXPECT_EQ(CheckedProduct({}).value(), 1);
  EXPECT_EQ(CheckedProduct({2, 3, 7}).value(), 42);
  EXPECT_EQ(CheckedProduct({kLargest, 0}).value(), 0);
}

TEST(CheckedMath, RefusesWhatWraps) {
  EXPECT_EQ(CheckedMul(int64_t{1} << 32, int64_t{1} << 31).error().reason, "OVERFLOW");
  EXPECT_EQ(CheckedAdd(kLargest, 1).error().reason, "OVERFLOW");
  EXPECT_EQ(CheckedProduct({int64_t{1} << 21, int64_t{1} << 21, int64_t{1} << 21}).error().code,
            ErrorCode::kOutOfRange);
}

}  // namespace
}  // namespace tinyprof
