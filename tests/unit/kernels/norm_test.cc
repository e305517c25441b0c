#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/ops/norm/channel_norm.h"
#include "kernels/ops/norm/reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Elements in [0.5, 1.5): a variance is positive.
OpCase::In Variance(int64_t channels, bool is_weight) {
  std::vector<float> elements;
  for (int64_t c = 0; c < channels; ++c) {
    elements.push_back(0.5F + static_cast<float>(c) / static_cast<float>(channels));
  }
  return FloatsOf({channels}, elements, is_weight);
}

OpCase BatchNorm(const Shape& shape, bool weights_are_known) {
  const int64_t channels = shape.rank() > 1 ? shape[1] : 1;
  OpCase op_case{.op_type = "BatchNormalization", .inputs = {Activation(shape)}};
  for (int i = 0; i < 3; ++i) {
    op_case.inputs.push_back(weights_are_known ? WeightOf({channels}) : Activation({channels}));
  }
  op_case.inputs.push_back(Variance(channels, weights_are_known));
  return op_case;
}

TEST(BatchNorm, AgreesAndCostsOneMultiplyAndOneAdd) {
  for (const Shape& shape : {Shape{1, 3, 7, 7}, Shape{2, 17, 37}, Shape{64, 100}, Shape{5},
                             Shape{0, 3, 2, 2}, Shape{2, 64, 30, 30}}) {
    SCOPED_TRACE(shape.ToString());
    for (const bool known : {true, false}) CheckOp(BatchNorm(shape, known));
    CheckCounts(BatchNorm(shape, true), &BatchNormReference<Counted>);
    EXPECT_EQ(CostOfCase(BatchNorm(shape, true)).flops,
              (FlopClasses{.add_mul_div = 2 * shape.element_count()}));
  }
}

TEST(BatchNorm, ByHand) {
  const OpCase op_case{
      .op_type = "BatchNormalization",
      .attributes = {{"epsilon", 0.0F}},
      .inputs = {FloatsOf({1, 2, 1}, {5, 7}), FloatsOf({2}, {2, 1}), FloatsOf({2}, {1, 0}),
                 FloatsOf({2}, {3, 7}), FloatsOf({2}, {4, 9})}};
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAre(3, 0));
}

TEST(BatchNorm, RefusesTrainingAndWrongChannels) {
  OpCase training = BatchNorm({1, 3, 2}, true);
  training.attributes["training_mode"] = int64_t{1};
  EXPECT_EQ(RefusalOf(training).reason, "TRAINING_NOT_SUPPORTED");
  OpCase by_element = BatchNorm({1, 3, 2}, true);
  by_element.attributes["spatial"] = int64_t{0};
  EXPECT_EQ(RefusalOf(by_element).reason, "ATTRIBUTE_NOT_SUPPORTED");
  OpCase wrong = BatchNorm({1, 3, 2}, true);
  wrong.inputs[3] = WeightOf({4});
  EXPECT_THAT(RefusalOf(wrong).message, HasSubstr("mean has shape 4, wanted 3"));
}

OpCase LayerNorm(const Shape& shape, int64_t axis, bool has_bias, size_t outputs = 1) {
  std::vector<int64_t> tail(shape.dims().begin() + axis, shape.dims().end());
  OpCase op_case{.op_type = "LayerNormalization",
                 .attributes = {{"axis", axis}},
                 .inputs = {Activation(shape, 3), WeightOf(Shape(tail))},
                 .output_count = outputs,
                 .tolerance = 3e-5};
  if (has_bias) op_case.inputs.push_back(WeightOf(Shape(tail)));
  return op_case;
}

TEST(LayerNorm, AgreesOverAnyTrailingAxes) {
  const std::vector<std::pair<Shape, int64_t>> cases = {
      {{3, 7}, 1},       {{2, 3, 17}, 1}, {{17, 64}, 1}, {{5, 100}, 0},
      {{2, 37, 768}, 2}, {{0, 7}, 1},     {{4, 1, 3}, 2}};
  for (const auto& [shape, axis] : cases) {
    SCOPED_TRACE(shape.ToString());
    for (const bool has_bias : {false, true}) {
      CheckOp(LayerNorm(shape, axis, has_bias));
      CheckCounts(LayerNorm(shape, axis, has_bias), &LayerNormReference<Counted>);
    }
  }
  CheckOp(LayerNorm({3, 37}, 1, true, 3));
}

TEST(LayerNorm, CostByHand) {
  // 6 rows of 17: 2 * 16 reductions; 17 * (sub, square, normalize, scale, shift) + 5.
  EXPECT_EQ(CostOfCase(LayerNorm({2, 3, 17}, 2, true)).flops,
            (FlopClasses{.add_mul_div = 6 * (5 * 17 + 5), .reduction = 6 * 32}));
}

TEST(LayerNorm, NormalizesByHand) {
  const OpCase op_case{.op_type = "LayerNormalization",
                       .attributes = {{"epsilon", 0.0F}},
                       .inputs = {FloatsOf({1, 4}, {1, 3, 1, 3}), FloatsOf({4}, {1, 1, 2, 2}),
                                  FloatsOf({4}, {0, 0, 5, 5})},
                       .output_count = 3};
  EXPECT_THAT(TrueOutputs(op_case),
              ElementsAre(ElementsAre(-1, 1, 3, 7), ElementsAre(2), ElementsAre(1)));
}

TEST(LayerNorm, RefusesWrongAxesAndScales) {
  OpCase axis = LayerNorm({3, 7}, 1, false);
  axis.attributes["axis"] = int64_t{2};
  EXPECT_EQ(RefusalOf(axis).reason, "BAD_AXIS");
  OpCase scale = LayerNorm({3, 7}, 1, false);
  scale.inputs[1] = WeightOf({6});
  EXPECT_THAT(RefusalOf(scale).message, HasSubstr("scale has shape 6, wanted 7"));
  EXPECT_EQ(RefusalOf(LayerNorm({3, 0}, 1, false)).reason, "SHAPE_MISMATCH");
}

TEST(Norm, InstancesAgreeAndCostWhatTheyExecute) {
  const OpCase op_case{.op_type = "InstanceNormalization",
                       .inputs = {Activation({2, 3, 5, 7}), WeightOf({3}), WeightOf({3})}};
  CheckOp(op_case);
  CheckCounts(op_case, &InstanceNormReference<Counted>);
  const OpCase by_hand{
      .op_type = "InstanceNormalization",
      .attributes = {{"epsilon", 0.0F}},
      .inputs = {FloatsOf({1, 1, 2}, {1, 3}), FloatsOf({1}, {2}), FloatsOf({1}, {5})}};
  EXPECT_THAT(TrueOutputs(by_hand)[0], testing::ElementsAre(3, 7));
}

TEST(Norm, NeighbouringChannelsAgreeAndCostWhatTheyExecute) {
  for (const int64_t size : {1, 3, 4, 9}) {
    const OpCase op_case{.op_type = "LRN",
                         .attributes = {{"size", size}, {"alpha", 0.5F}},
                         .inputs = {Activation({2, 5, 3, 2})}};
    CheckOp(op_case);
    CheckCounts(op_case, &LrnReference<Counted>);
  }
  for (const float beta : {0.75F, 0.4F}) {
    CheckOp({.op_type = "LRN",
             .attributes = {{"size", int64_t{5}}, {"alpha", 0.1F}, {"beta", beta}, {"bias", 2.0F}},
             .inputs = {Activation({2, 12, 27, 31}, 3)}});
  }
  const OpCase by_hand{.op_type = "LRN",
                       .attributes = {{"size", int64_t{3}}, {"alpha", 3.0F}, {"beta", 1.0F}},
                       .inputs = {FloatsOf({1, 3, 1}, {1, 2, 3})}};
  // 1 / (1 + 1 + 4), 2 / (1 + 1 + 4 + 9), 3 / (1 + 4 + 9).
  EXPECT_THAT(TrueOutputs(by_hand)[0], testing::ElementsAre(testing::DoubleNear(1.0 / 6, 1e-9),
                                                            testing::DoubleNear(2.0 / 15, 1e-9),
                                                            testing::DoubleNear(3.0 / 14, 1e-9)));
}

}  // namespace
}  // namespace tinyprof
