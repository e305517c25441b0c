// Networks of older opsets in the words of opset 13: the same outputs, and a file that comes back.
#include "daemon/model/onnx_upgrade.h"

#include <gmock/gmock.h>

#include <cstring>
#include <functional>

#include "daemon/model/onnx_export.h"
#include "kernels/quantization/quantize.h"
#include "tests/unit/model/onnx_test_util.h"

namespace tinyprof {
namespace {

using testing::HasSubstr;
using Floats = std::vector<float>;

void SetInts(onnx::NodeProto* node, const std::string& name, const std::vector<int64_t>& values) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  attribute->mutable_ints()->Add(values.begin(), values.end());
}

void SetFloat(onnx::NodeProto* node, const std::string& name, float value) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::FLOAT);
  attribute->set_f(value);
}

Graph CopyOf(const Graph& graph) {
  std::string bytes;
  const Status written = ExportOnnx(graph, [&](std::string_view piece) -> Status {
    bytes += piece;
    return {};
  });
  EXPECT_TRUE(written.has_value()) << written.error().message;
  return Imported(ImportOnnx(std::as_bytes(std::span(bytes)), {.name = "copy"}));
}

// The first output on 0, 1, 2, ... less 2.
Floats OutputOf(const Graph& graph) {
  auto session = Session::Create(graph, {.backend = Backend::kReference});
  EXPECT_TRUE(session.has_value()) << session.error().message;
  if (!session) return {};
  const TensorView input = (*session)->input(0);
  for (int64_t i = 0; i < input.element_count(); ++i) {
    input.As<float>()[i] = static_cast<float>(i) - 2;
  }
  (*session)->RunAll();
  const ConstTensorView output = (*session)->output(0);
  return {output.As<float>(), output.As<float>() + output.element_count()};
}

struct Case {
  const char* op;
  std::function<void(onnx::NodeProto*)> set;
  Floats wanted;  // by hand, of an input of 1x2x3: -2, -1, 0, 1, 2, 3
};

std::vector<Case> Cases() {
  return {
      {"Squeeze", [](auto* node) { SetInts(node, "axes", {0}); }, {-2, -1, 0, 1, 2, 3}},
      {"Unsqueeze",
       [](auto* node) {
         SetInts(node, "axes", {0, 4});
       },
       {-2, -1, 0, 1, 2, 3}},
      {"ReduceSum", [](auto* node) { SetInts(node, "axes", {2}); }, {-3, 6}},
      {"Slice",
       [](auto* node) {
         SetInts(node, "axes", {2});
         SetInts(node, "starts", {1});
         SetInts(node, "ends", {3});
       },
       {-1, 0, 2, 3}},
      {"Clip",
       [](auto* node) {
         SetFloat(node, "min", -1);
         SetFloat(node, "max", 2);
       },
       {-1, -1, 0, 1, 2, 2}},
      {"Clip", [](auto* node) { SetFloat(node, "max", 0); }, {-2, -1, 0, 0, 0, 0}},
      {"Pad",
       [](auto* node) {
         SetInts(node, "pads", {0, 0, 1, 0, 0, 0});
         SetFloat(node, "value", 7);
       },
       {7, -2, -1, 0, 7, 1, 2, 3}},
      {"TopK", [](auto* node) { ModelMaker::SetInt(node, "k", 1); }, {0, 3}},
      {"Split",
       [](auto* node) {
         SetInts(node, "split", {1, 2});
         ModelMaker::SetInt(node, "axis", 2);
       },
       {-2, 1}},
      {"Dropout", [](auto* node) { SetFloat(node, "ratio", 0.5F); }, {-2, -1, 0, 1, 2, 3}},
  };
}

TEST(UpgradedGraphTest, AttributesBecomeInputs) {
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.op);
    ModelMaker maker(9);
    maker.Input("x", {"1", "2", "3"}).Output("y");
    const bool has_two = one.op == std::string("TopK") || one.op == std::string("Split");
    one.set(
        maker.Node(one.op, {"x"},
                   has_two ? std::vector<std::string>{"y", "z"} : std::vector<std::string>{"y"}));
    const Graph old = Imported(maker.Import());
    const Result<Graph> upgraded = UpgradedGraph(old);
    ASSERT_TRUE(upgraded.has_value()) << upgraded.error().message;
    EXPECT_EQ(upgraded->opset, 13);
    EXPECT_EQ(OutputOf(*upgraded), one.wanted);
    const Graph copy = CopyOf(*upgraded);
    EXPECT_EQ(copy.opset, 13);
    EXPECT_EQ(OutputOf(copy), one.wanted);
  }
}

// Bounds have the data's type.
TEST(UpgradedGraphTest, NumbersOfEachType) {
  for (const DType dtype : {DType::kFloat16, DType::kFloat64}) {
    ModelMaker maker(10);
    maker.Input("x", {"1", "3"}, dtype).Output("y");
    auto* clip = maker.Node("Clip", {"x"}, {"y"});
    SetFloat(clip, "min", 0);
    SetFloat(clip, "max", 6);
    const Result<Graph> upgraded = UpgradedGraph(Imported(maker.Import()));
    ASSERT_TRUE(upgraded.has_value()) << upgraded.error().message;
    const Graph copy = CopyOf(*upgraded);
    EXPECT_EQ(copy.value(copy.outputs[0]).type.dtype, dtype);
    ASSERT_TRUE(Session::Create(copy, {.backend = Backend::kReference}).has_value());
  }
}

// ONNX's TopK has two outputs, also where nobody reads the second.
TEST(UpgradedGraphTest, OutputsThatAreNotOptionalStay) {
  ModelMaker maker(9);
  maker.Input("x", {"1", "2", "3"}).Output("y");
  ModelMaker::SetInt(maker.Node("TopK", {"x"}, {"y", "unread"}), "k", 1);
  const Graph copy = CopyOf(*UpgradedGraph(Imported(maker.Import())));
  EXPECT_EQ(copy.nodes[0].outputs.size(), 2U);
  EXPECT_EQ(OutputOf(copy), (Floats{0, 3}));
}

// y = softmax over the last four elements as one row: what opset 9 means by axis 1.
TEST(UpgradedGraphTest, SoftmaxKeepsItsMeaning) {
  ModelMaker maker(9);
  maker.Input("x", {"1", "2", "2"}).Output("y");
  ModelMaker::SetInt(maker.Node("Softmax", {"x"}, {"y"}), "axis", 1);
  const Floats before = OutputOf(Imported(maker.Import()));
  const Floats after = OutputOf(CopyOf(*UpgradedGraph(Imported(maker.Import()))));
  EXPECT_EQ(before, after);
  // exp(-2) : exp(-1) : exp(0) : exp(1).
  ASSERT_EQ(after.size(), 4U);
  EXPECT_NEAR(after[0], 0.0320586, 1e-6);
  EXPECT_NEAR(after[3], 0.6439143, 1e-6);
}

TEST(UpgradedGraphTest, AnOldFileCanBeQuantized) {
  ModelMaker maker(9);
  maker.Input("x", {"1", "2", "2", "2"}).Floats("w", {1, 2, 1, 1}, {1, -1}).Output("y");
  maker.Floats("scale", {1}, {2}).Floats("bias", {1}, {0.5F});
  maker.Floats("mean", {1}, {0}).Floats("variance", {1}, {1});
  maker.Node("Conv", {"x", "w"}, {"c"});
  ModelMaker::SetInt(
      maker.Node("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"n"}),
      "spatial", 1);
  SetFloat(maker.Node("Clip", {"n"}, {"y"}), "min", 0);
  const Result<Graph> upgraded = UpgradedGraph(Imported(maker.Import()));
  ASSERT_TRUE(upgraded.has_value()) << upgraded.error().message;
  const Result<QuantizedModel> model = QuantizeModel(
      *upgraded, {.session = {.backend = Backend::kReference}, .samples = 2, .held_out = 1});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  std::vector<std::string> ops;
  for (const Node& node : CopyOf(model->graph).nodes) ops.push_back(node.op_type);
  EXPECT_THAT(ops, testing::ElementsAre("QuantizeLinear", "QLinearConv", "DequantizeLinear"));
}

TEST(UpgradedGraphTest, WhatHasNoKnownFormIsNamed) {
  ModelMaker maker(10);
  maker.Input("x", {"1", "1", "4", "4"}).Floats("rois", {1, 4}, {0, 0, 2, 2});
  maker.Ints("batch", {1}, {0}).Output("y");
  auto* align = maker.Node("RoiAlign", {"x", "rois", "batch"}, {"y"});
  align->set_name("crop");
  ModelMaker::SetInt(align, "sampling_ratio", 1);
  const Result<Graph> upgraded = UpgradedGraph(Imported(maker.Import()));
  ASSERT_FALSE(upgraded.has_value());
  EXPECT_EQ(upgraded.error().reason, "OPSET_NOT_SUPPORTED");
  EXPECT_THAT(upgraded.error().message, HasSubstr("RoiAlign (crop)"));
}

TEST(UpgradedGraphTest, OtherOpsetsStayOrAreRefused) {
  for (const int opset : {6, 13, 17}) {
    ModelMaker maker(opset);
    maker.Input("x", {"1", "2"}).Output("y");
    maker.Node("Relu", {"x"}, {"y"});
    const Result<Graph> upgraded = UpgradedGraph(Imported(maker.Import()));
    if (opset == 6) {
      ASSERT_FALSE(upgraded.has_value());
      EXPECT_THAT(upgraded.error().message, HasSubstr("opset 6"));
    } else {
      EXPECT_EQ(upgraded->opset, opset);
    }
  }
}

}  // namespace
}  // namespace tinyprof
