#include "kernels/zoo/model_spec.h"

#include <gmock/gmock.h>

#include "tests/unit/zoo/zoo_test_util.h"

namespace tinyprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseInputFlagTest, ReadsNamesAndDimensions) {
  const auto named = ParseInputFlag("image=1x3x224x224");
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ(named->first, "image");
  EXPECT_THAT(named->second, ElementsAre(1, 3, 224, 224));
  const auto bare = ParseInputFlag("32x784");
  ASSERT_TRUE(bare.has_value());
  EXPECT_EQ(bare->first, "");
  EXPECT_THAT(bare->second, ElementsAre(32, 784));
  EXPECT_THAT(ParseInputFlag("5")->second, ElementsAre(5));
}

TEST(ParseInputFlagTest, RefusesWhatIsNoShape) {
  for (const char* text : {"", "x", "1x", "x1", "1xx2", "axb", "=1x2", "a=", "1x-2", "1x0", "1 x 2",
                           "1.5x2", "99999999999999999999x1", "1048576x1048576x1048576"}) {
    const auto input = ParseInputFlag(text);
    ASSERT_FALSE(input.has_value()) << text;
    EXPECT_EQ(input.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(ModelSpecTest, BatchHasBounds) {
  for (const int64_t batch : {INT64_MIN, int64_t{-1}, int64_t{0}, kMaxBatch + 1, INT64_MAX}) {
    EXPECT_EQ(ErrorOf("mlp", {}, batch).reason, "BAD_BATCH");
    EXPECT_EQ(ErrorOf("linear(3,4)", {}, batch).reason, "BAD_BATCH");
  }
  EXPECT_TRUE(BuildModel({.text = "mlp", .batch = kMaxBatch}).has_value());
}

TEST(ModelSpecTest, TellsLayerListsFromNames) {
  EXPECT_TRUE(IsLayerList("linear(3,4)"));
  EXPECT_TRUE(IsLayerList("relu; tanh"));
  EXPECT_TRUE(IsLayerList(" ReLU "));
  EXPECT_FALSE(IsLayerList("mlp"));
  EXPECT_FALSE(IsLayerList("tinygpt:layers=2,dim=64"));
  EXPECT_FALSE(IsLayerList(""));
}

TEST(ModelSpecTest, UnknownModelSuggestsNames) {
  const Error error = ErrorOf("resnet51");
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_EQ(error.reason, "UNKNOWN_MODEL");
  EXPECT_THAT(error.message, HasSubstr("resnet50"));
  EXPECT_EQ(ErrorOf("").reason, "UNKNOWN_MODEL");
}

TEST(ModelSpecTest, InputSetsTheBatch) {
  const Graph zoo = Built("mlp", {32, 784});
  EXPECT_EQ(zoo.value(zoo.inputs[0]).type.shape, (Shape{32, 784}));
  const Graph list = Built("conv2d(3,8,3)", {1, 3, 9, 9}, 4);
  EXPECT_EQ(list.value(list.inputs[0]).type.shape, (Shape{4, 3, 9, 9}));
}

TEST(ModelSpecTest, ContradictingInputsAreErrors) {
  EXPECT_EQ(ErrorOf("linear(3,4)", {2, 3}, 5).reason, "BAD_INPUT");
  EXPECT_THAT(ErrorOf("resnet18", {1, 3, 99, 99}).message, HasSubstr("image=N"));
  ModelSpec spec{.text = "mlp", .inputs = {{"nothing", {1, 784}}}};
  EXPECT_EQ(BuildModel(spec).error().reason, "BAD_INPUT");
  spec = {.text = "linear(3,4)", .inputs = {{"", {1, 3}}, {"", {1, 3}}}};
  EXPECT_EQ(BuildModel(spec).error().reason, "BAD_INPUT");
  spec = {.text = "linear(3,4)", .inputs = {{"other", {1, 3}}}};
  EXPECT_EQ(BuildModel(spec).error().reason, "BAD_INPUT");
  spec = {.text = "linear(3,4)", .inputs = {{"", {-1, 3}}}};
  EXPECT_EQ(BuildModel(spec).error().reason, "BAD_SHAPE");
}

}  // namespace
}  // namespace tinyprof
