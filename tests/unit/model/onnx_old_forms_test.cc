// Operators whose older versions mean something else than the newest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "kernels/runtime/session.h"
#include "tests/unit/model/onnx_test_util.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using Floats = std::vector<float>;

// The first output on 1, 2, 3, ...
Floats OutputOf(const Graph& graph) {
  auto session = Session::Create(graph, {.backend = Backend::kReference});
  EXPECT_TRUE(session.has_value()) << session.error().message;
  if (!session) return {};
  const TensorView input = (*session)->input(0);
  std::iota(input.As<float>(), input.As<float>() + input.element_count(), 1.0F);
  (*session)->RunAll();
  const ConstTensorView output = (*session)->output(0);
  return {output.As<float>(), output.As<float>() + output.element_count()};
}

Floats Resized(const Floats& scales) {
  ModelMaker maker(10);
  maker.Input("x", {"1", "1", "2", "4"}).Output("y").Floats("scales", {4}, scales);
  auto* mode = maker.Node("Resize", {"x", "scales"}, {"y"})->add_attribute();
  mode->set_name("mode");
  mode->set_type(onnx::AttributeProto::STRING);
  mode->set_s("nearest");
  return OutputOf(Imported(maker.Import()));
}

// The first and the second are ONNX's own tests of opset 10, resize_downsample_nearest and
// resize_upsample_nearest; the third is the one along one axis and the other along the other.
TEST(OnnxOldForms, ResizeTakesTheElementBehindWhereItShrinks) {
  EXPECT_THAT(Resized({1, 1, 0.6F, 0.6F}), ElementsAre(1, 3));
  EXPECT_THAT(Resized({1, 1, 2, 1}), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8));
  EXPECT_THAT(Resized({1, 1, 2, 0.6F}), ElementsAre(1, 3, 1, 3, 5, 7, 5, 7));
}

TEST(OnnxOldForms, ResizeWithoutScalesIsRefused) {
  ModelMaker maker(10);
  maker.Input("x", {"1", "1", "2", "4"}).Output("y");
  maker.Node("Resize", {"x", "", "sizes"}, {"y"});
  maker.Ints("sizes", {4}, {1, 1, 1, 2});
  EXPECT_FALSE(maker.Import().has_value());
}

// Its version 7 has a mask of the data's type, its version 10 one of bool.
TEST(OnnxOldForms, MaskOfDropoutIsANumberBeforeOpset10) {
  for (const int64_t opset : {int64_t{7}, int64_t{9}, int64_t{10}}) {
    ModelMaker maker(opset);
    maker.Input("x", {"3"}).Output("y").Output("mask");
    maker.Node("Dropout", {"x"}, {"y", "mask"});
    const Graph graph = Imported(maker.Import());
    EXPECT_EQ(graph.value(graph.outputs[1]).type.dtype,
              opset < 10 ? DType::kFloat32 : DType::kBool);
  }
  ModelMaker maker(9);
  maker.Input("x", {"3"}).Output("z");
  maker.Node("Dropout", {"x"}, {"y", "mask"});
  maker.Node("Mul", {"y", "mask"}, {"z"});
  EXPECT_THAT(OutputOf(Imported(maker.Import())), ElementsAre(1, 2, 3));
}

// Before opset 14 training is told by the outputs that hold the new statistics.
TEST(OnnxOldForms, BatchNormalizationWithMoreOutputsIsTraining) {
  for (const int64_t opset : {int64_t{9}, int64_t{13}}) {
    ModelMaker maker(opset);
    maker.Input("x", {"1", "2", "3"}).Output("y").Floats("ones", {2}, {1, 1});
    auto* node = maker.Node("BatchNormalization", {"x", "ones", "ones", "ones", "ones"}, {"y"});
    EXPECT_TRUE(maker.Import().has_value());
    for (const char* name : {"mean", "var", "saved_mean", "saved_var"}) node->add_output(name);
    const auto graph = maker.Import();
    ASSERT_FALSE(graph.has_value());
    EXPECT_EQ(graph.error().reason, "TRAINING_NOT_SUPPORTED");
  }
}

TEST(OnnxOldForms, DynamicQuantizeLinearKeepsWhatNobodyReads) {
  ModelMaker maker(11);
  maker.Input("x", {"3"}).Output("q");
  maker.Node("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
  EXPECT_EQ(Imported(maker.Import()).nodes[0].outputs.size(), 3U);
}

}  // namespace
}  // namespace tinyprof
