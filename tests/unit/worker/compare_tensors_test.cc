#include "daemon/worker/compare_tensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace tinyprof {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
TensorData Tensor(DType dtype, const std::vector<T>& elements) {
  auto bytes = std::make_shared<std::vector<std::byte>>(elements.size() * sizeof(T));
  std::memcpy(bytes->data(), elements.data(), bytes->size());
  return {.name = "y",
          .type = {.dtype = dtype, .shape = Shape({static_cast<int64_t>(elements.size())})},
          .bytes = bytes};
}

template <class T>
v1::VerifiedOutput Compare(DType dtype, const std::vector<T>& got, const std::vector<T>& want,
                           Tolerance tolerance = {}) {
  const TensorData got_data = Tensor(dtype, got);
  const ConstTensorView view{.type = got_data.type, .data = got_data.bytes->data()};
  return CompareTensors("y", view, Tensor(dtype, want), tolerance);
}

v1::VerifiedOutput CompareFloats(const std::vector<float>& got, const std::vector<float>& want,
                                 Tolerance tolerance = {}) {
  return Compare(DType::kFloat32, got, want, tolerance);
}

TEST(CompareTensorsTest, EqualTensorsHaveNoError) {
  const auto result = CompareFloats({1, -2, 0}, {1, -2, 0});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.max_abs_error(), 0);
  EXPECT_EQ(result.max_rel_error(), 0);
  EXPECT_EQ(result.name(), "y");
  EXPECT_EQ(result.shape(0), 3);
}

TEST(CompareTensorsTest, ErrorsAreTheLargest) {
  const auto result = CompareFloats({1.5F, 8, 0.25F}, {1, 9, 0});
  EXPECT_FALSE(result.ok());
  EXPECT_DOUBLE_EQ(result.max_abs_error(), 1);
  EXPECT_DOUBLE_EQ(result.max_rel_error(), 0.5);
}

// 0.5 allowed everywhere; errors of 0.25, 1, 2 and 2.
TEST(CompareTensorsTest, TheWorstElementIsNamed) {
  const TensorData got = Tensor<float>(DType::kFloat32, {1.25F, 3, 5, 6});
  TensorData want = Tensor<float>(DType::kFloat32, {1, 2, 3, 4});
  want.type.shape = Shape({1, 2, 2});
  const ConstTensorView view{.type = want.type, .data = got.bytes->data()};
  const auto result = CompareTensors("y", view, want, {.relative = 0, .absolute = 0.5});
  EXPECT_EQ(result.outside_count(), 3);
  const auto& index = result.worst().index();
  EXPECT_EQ(std::vector<int64_t>(index.begin(), index.end()), (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(result.worst().got(), 5);
  EXPECT_EQ(result.worst().want(), 3);
  EXPECT_EQ(result.worst().allowed(), 0.5);

  // An error of 1 where 0.1 is allowed is worse than one of 5 where 10 is.
  const auto relative = CompareFloats({2, 105, 1}, {1, 100, 1}, {.relative = 0.1, .absolute = 0});
  EXPECT_EQ(relative.outside_count(), 1);
  EXPECT_EQ(relative.worst().index(0), 0);
  const auto not_finite = CompareFloats({9, kNan}, {1, 1});
  EXPECT_EQ(not_finite.outside_count(), 2);
  EXPECT_EQ(not_finite.worst().index(0), 1);
  EXPECT_FALSE(CompareFloats({1}, {1}).has_worst());
  EXPECT_EQ(CompareFloats({1}, {1}).outside_count(), 0);
}

TEST(CompareTensorsTest, ToleranceIsAbsolutePlusRelative) {
  const Tolerance tolerance{.relative = 0.125, .absolute = 0.5};
  EXPECT_TRUE(CompareFloats({9.5F}, {8}, tolerance).ok());
  EXPECT_FALSE(CompareFloats({9.625F}, {8}, tolerance).ok());
  EXPECT_TRUE(CompareFloats({-9.5F}, {-8}, tolerance).ok());
}

TEST(CompareTensorsTest, WithoutToleranceOnlyEqualElementsPass) {
  const Tolerance exact{.relative = 0, .absolute = 0};
  EXPECT_TRUE(CompareFloats({1, 0}, {1, 0}, exact).ok());
  const auto result = CompareFloats({1, 2.5F, 4, 3.25F}, {1, 2, 3, 3}, exact);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.outside_count(), 3);
  EXPECT_EQ(result.worst().index(0), 2);
  EXPECT_EQ(result.worst().allowed(), 0);
}

TEST(CompareTensorsTest, NanAndInfinityEqualThemselvesOnly) {
  EXPECT_TRUE(CompareFloats({kNan, kInfinity}, {kNan, kInfinity}).ok());
  EXPECT_FALSE(CompareFloats({kNan}, {1}).ok());
  EXPECT_FALSE(CompareFloats({1}, {kNan}).ok());
  EXPECT_FALSE(CompareFloats({1}, {kInfinity}).ok());
  EXPECT_FALSE(CompareFloats({kInfinity}, {-kInfinity}).ok());
  EXPECT_FALSE(std::isnan(CompareFloats({1}, {kNan}).max_rel_error()));
}

TEST(CompareTensorsTest, TypesMustBeEqual) {
  const TensorData got = Tensor<float>(DType::kFloat32, {1, 2});
  const ConstTensorView view{.type = got.type, .data = got.bytes->data()};
  for (const TensorData& want :
       {Tensor<float>(DType::kFloat32, {1}), Tensor<int32_t>(DType::kInt32, {1, 2})}) {
    const auto result = CompareTensors("y", view, want, {});
    EXPECT_FALSE(result.ok());
    EXPECT_FALSE(result.has_max_abs_error());
    EXPECT_NE(result.note(), "");
  }
}

TEST(CompareTensorsTest, ReadsEveryDType) {
  EXPECT_EQ(Compare<double>(DType::kFloat64, {2}, {1}).max_abs_error(), 1);
  EXPECT_EQ(Compare<int8_t>(DType::kInt8, {-128}, {127}).max_abs_error(), 255);
  EXPECT_EQ(Compare<uint8_t>(DType::kUInt8, {255}, {0}).max_abs_error(), 255);
  EXPECT_EQ(Compare<uint8_t>(DType::kBool, {1}, {0}).max_abs_error(), 1);
  EXPECT_EQ(Compare<int32_t>(DType::kInt32, {-5}, {5}).max_abs_error(), 10);
  EXPECT_EQ(Compare<int64_t>(DType::kInt64, {1'000'000'007}, {7}).max_abs_error(), 1e9);
}

TEST(CompareTensorsTest, ReadsHalfPrecision) {
  // 0x3c00 is 1, 0xc000 is -2, 0x0001 is 2^-24, 0x7c00 is infinity (IEEE 754 binary16).
  EXPECT_EQ(Compare<uint16_t>(DType::kFloat16, {0x3c00}, {0xc000}).max_abs_error(), 3);
  EXPECT_EQ(Compare<uint16_t>(DType::kFloat16, {0x0001}, {0}).max_abs_error(), std::exp2(-24));
  EXPECT_TRUE(Compare<uint16_t>(DType::kFloat16, {0x7c00}, {0x7c00}).ok());
  EXPECT_TRUE(Compare<uint16_t>(DType::kFloat16, {0x7e00}, {0x7e01}).ok()) << "both are NaN";
  // 0x3f80 and 0x4000 are the upper halves of 1.0f and 2.0f.
  EXPECT_EQ(Compare<uint16_t>(DType::kBFloat16, {0x3f80}, {0x4000}).max_abs_error(), 1);
}

}  // namespace
}  // namespace tinyprof
