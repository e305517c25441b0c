// Scales and zero points, by hand.
#include "kernels/quantization/byte_scale.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/quantization/weights.h"

namespace tinyprof {
namespace {

TEST(ByteScaleTest, ARangeAroundZeroHasItInItsSteps) {
  // 4 / 255 a step, 1 / that is 63.75.
  EXPECT_EQ(ByteScaleOf({-1, 3}), (ByteScale{4.0F / 255, 64}));
}

TEST(ByteScaleTest, ARangeOnOneSideIsWidenedToZero) {
  EXPECT_EQ(ByteScaleOf({1, 2.55F}), (ByteScale{0.01F, 0}));
  EXPECT_EQ(ByteScaleOf({-2.55F, -1}), (ByteScale{0.01F, 255}));
  EXPECT_EQ(ByteScaleOf({5, 5}), (ByteScale{5.0F / 255, 0}));
  EXPECT_EQ(ByteScaleOf({-5, -5}), (ByteScale{5.0F / 255, 255}));
}

TEST(ByteScaleTest, ZeroPointsAreRoundedHalfToEven) {
  EXPECT_EQ(ByteScaleOf({-0.5F, 254.5F}), (ByteScale{1, 0}));
  EXPECT_EQ(ByteScaleOf({-1.5F, 253.5F}), (ByteScale{1, 2}));
  EXPECT_EQ(ByteScaleOf({-2.5F, 252.5F}), (ByteScale{1, 2}));
}

TEST(ByteScaleTest, NothingToScaleHasScaleOne) {
  EXPECT_EQ(ByteScaleOf({}), (ByteScale{1, 0}));
  EXPECT_EQ(ByteScaleOf({0, 0}), (ByteScale{1, 0}));
  EXPECT_EQ(ByteScaleOf({0, 1e-37F}), (ByteScale{1, 0}));
}

TEST(ByteScaleTest, TheWholeRangeOfFloatsHasAFiniteScale) {
  const ByteScale scale = ByteScaleOf({-3e38F, 3e38F});
  EXPECT_FLOAT_EQ(scale.scale, static_cast<float>(6e38 / 255));
  EXPECT_EQ(scale.zero_point, 128);
}

TEST(QuantizedWeightTest, IsRoundedHalfToEvenAndSaturated) {
  EXPECT_EQ(QuantizedWeight(0.5F, 1), 0);
  EXPECT_EQ(QuantizedWeight(1.5F, 1), 2);
  EXPECT_EQ(QuantizedWeight(-2.5F, 1), -2);
  EXPECT_EQ(QuantizedWeight(3.49F, 1), 3);
  EXPECT_EQ(QuantizedWeight(127.6F, 1), 127);
  EXPECT_EQ(QuantizedWeight(-200, 1), -127);
}

TEST(QuantizedBiasTest, IsRoundedHalfToEvenAndSaturated) {
  EXPECT_EQ(QuantizedBias(0.5F, 0.25), 2);
  EXPECT_EQ(QuantizedBias(0.625F, 0.25), 2);
  EXPECT_EQ(QuantizedBias(0.875F, 0.25), 4);
  EXPECT_EQ(QuantizedBias(1e20F, 1e-3), 2'147'483'647);
  EXPECT_EQ(QuantizedBias(-1e20F, 1e-3), -2'147'483'647 - 1);
}

// Two channels of two elements, behind each other and in turns.
TEST(ChannelScalesTest, EachChannelHasItsLargestMagnitude) {
  const std::vector<float> weights = {1, -254, 127, 63};
  EXPECT_EQ(ChannelScales(weights, {.channels = 2, .run = 2}, {}), (std::vector<float>{2, 1}));
  EXPECT_EQ(ChannelScales(weights, {.channels = 2, .run = 1}, {}), (std::vector<float>{1, 2}));
}

TEST(ChannelScalesTest, ZerosHaveTheFloorOrOne) {
  const std::vector<float> weights = {0, 0, 127};
  const WeightLayout layout{.channels = 3, .run = 1};
  EXPECT_EQ(ChannelScales(weights, layout, {}), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(ChannelScales(weights, layout, {0.25F, 0, 3}), (std::vector<float>{0.25F, 1, 3}));
}

TEST(WeightLayoutTest, ChannelsAreOutputs) {
  const WeightLayout conv = WeightLayout::OfConv({6, 2, 3, 3});
  EXPECT_EQ(conv.channels, 6);
  EXPECT_EQ(conv.run, 18);
  const WeightLayout matmul = WeightLayout::OfMatmul({5, 4});
  EXPECT_EQ(matmul.channels, 4);
  EXPECT_EQ(matmul.run, 1);
}

}  // namespace
}  // namespace tinyprof
