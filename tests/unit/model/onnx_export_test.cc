#include "daemon/model/onnx_export.h"

#include <gmock/gmock.h>

#include <cstring>

#include "kernels/runtime/session.h"
#include "kernels/zoo/analysis.h"
#include "kernels/zoo/model_spec.h"
#include "tests/unit/model/onnx_test_util.h"

namespace tinyprof {
namespace {

std::string Exported(const Graph& graph) {
  std::string bytes;
  const Status status = ExportOnnx(graph, [&](std::string_view piece) -> Status {
    bytes += piece;
    return {};
  });
  EXPECT_TRUE(status.has_value()) << status.error().message;
  return bytes;
}

struct Case {
  const char* text;
  std::vector<int64_t> input;
  int64_t opset;
};

class RoundTrip : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    ModelSpec spec{.text = GetParam().text, .batch = 2};
    if (!GetParam().input.empty()) spec.inputs.emplace_back("", GetParam().input);
    Result<Graph> graph = BuildModel(spec);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    original_ = *std::move(graph);
    bytes_ = Exported(original_);
    copy_ = Imported(ImportOnnx(std::as_bytes(std::span(bytes_)), {}));
  }
  Graph original_;
  std::string bytes_;
  Graph copy_;
};

TEST_P(RoundTrip, FileIsWholeAndOfTheLowestOpset) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(bytes_));
  EXPECT_EQ(model.ir_version(), 8);
  ASSERT_EQ(model.opset_import_size(), 1);
  EXPECT_EQ(model.opset_import(0).version(), GetParam().opset);
  EXPECT_EQ(model.graph().node_size(), static_cast<int>(original_.nodes.size()));
}

TEST_P(RoundTrip, AnalysisIsTheSame) {
  const Result<ModelAnalysis> before = Analyze(original_);
  const Result<ModelAnalysis> after = Analyze(copy_);
  ASSERT_TRUE(before.has_value() && after.has_value());
  EXPECT_EQ(before->totals, after->totals);
  EXPECT_EQ(before->parameters.unique, after->parameters.unique);
  EXPECT_EQ(before->parameters.listed, after->parameters.listed);
  EXPECT_EQ(before->activation_peak_bytes, after->activation_peak_bytes);
  ASSERT_EQ(before->layers.size(), after->layers.size());
  for (size_t i = 0; i < before->layers.size(); ++i) {
    EXPECT_EQ(before->layers[i].name, after->layers[i].name);
    EXPECT_EQ(before->layers[i].cost, after->layers[i].cost);
    EXPECT_EQ(before->layers[i].output_shapes, after->layers[i].output_shapes);
  }
}

TEST_P(RoundTrip, OutputsAreTheSame) {
  const SessionOptions options = {.backend = Backend::kReference};
  auto before = Session::Create(original_, options);
  auto after = Session::Create(copy_, options);
  ASSERT_TRUE(before.has_value()) << before.error().message;
  ASSERT_TRUE(after.has_value()) << after.error().message;
  (*before)->FillInputs();
  (*after)->FillInputs();
  for (size_t i = 0; i < original_.inputs.size(); ++i) {
    const TensorView from = (*before)->input(i);
    const TensorView to = (*after)->input(i);
    ASSERT_EQ(from.type, to.type);
    std::memcpy(to.data, from.data, static_cast<size_t>(from.type.byte_size()));
  }
  (*before)->RunAll();
  (*after)->RunAll();
  for (size_t i = 0; i < original_.outputs.size(); ++i) {
    const ConstTensorView a = (*before)->output(i);
    const ConstTensorView b = (*after)->output(i);
    ASSERT_EQ(a.type, b.type);
    EXPECT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(a.type.byte_size())), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, RoundTrip,
    testing::Values(Case{"mlp", {}, 17}, Case{"lenet", {}, 17}, Case{"resnet18:image=32", {}, 17},
                    Case{"tinygpt:layers=2,dim=32,heads=2,seq=8", {}, 23},
                    Case{"tinygpt:layers=2,dim=32,heads=2,seq=8,phase=decode,context=5", {}, 23},
                    Case{"gpt:layers=1,dim=32,heads=2,seq=8,vocab=50", {}, 23},
                    Case{"linear(6,4); gelu; linear(4,2)", {}, 20},
                    Case{"linear(6,4); silu", {}, 24},
                    Case{"conv2d(3,8,3); batchnorm2d(8); prelu(8); convtranspose2d(8,2,2,2); "
                         "maxpool2d(2); flatten",
                         {2, 3, 8, 8},
                         17},
                    Case{"lstm(5,4,bidirectional=true); gru(8,3); rnn(3,2)", {2, 6, 5}, 17},
                    Case{"mha(8,2); layernorm(8); softmax", {2, 5, 8}, 23}));

TEST(OnnxExportTest, ErrorsOfTheSinkEndTheExport) {
  const Result<Graph> graph = BuildModel({.text = "mlp"});
  int calls = 0;
  const Status status = ExportOnnx(*graph, [&](std::string_view) -> Status {
    ++calls;
    return Fail(ErrorCode::kCancelled, "STOP", "stop");
  });
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().reason, "STOP");
  EXPECT_EQ(calls, 1);
}

TEST(OnnxExportTest, PiecesStaySmallAndAddUp) {
  const Result<Graph> graph = BuildModel({.text = "resnet18"});
  size_t total = 0;
  size_t largest = 0;
  const Status status = ExportOnnx(*graph, [&](std::string_view piece) -> Status {
    total += piece.size();
    largest = std::max(largest, piece.size());
    return {};
  });
  ASSERT_TRUE(status.has_value());
  EXPECT_GT(total, size_t{4} * 11689512);
  EXPECT_LE(largest, size_t{1} << 20);
}

TEST(OnnxExportTest, WhatProtobufCannotHoldIsAnError) {
  const Result<Graph> graph = BuildModel({.text = "tinygpt:layers=8,dim=8192,heads=8"});
  ASSERT_TRUE(graph.has_value());
  bool written = false;
  const Status status = ExportOnnx(*graph, [&](std::string_view) -> Status {
    written = true;
    return {};
  });
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().reason, "MODEL_TOO_LARGE");
  EXPECT_FALSE(written);
}

}  // namespace
}  // namespace tinyprof
