// Whole networks: what is quantized and what is not, that no product is lost, how far outputs move.
#include "kernels/quantization/quantize.h"

#include <gmock/gmock.h>

#include "kernels/zoo/analysis.h"
#include "kernels/zoo/model_spec.h"
#include "tests/unit/quantization/small_net.h"

namespace tinyprof {
namespace {

using testing::HasSubstr;

QuantizeOptions Options(QuantizationMode mode) {
  return {.mode = mode, .session = {.backend = Backend::kReference}, .samples = 4, .held_out = 2};
}

QuantizedModel Quantized(const Graph& graph, QuantizationMode mode) {
  Result<QuantizedModel> model = QuantizeModel(graph, Options(mode));
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model ? *std::move(model) : QuantizedModel{};
}

Error Refused(const Graph& graph, QuantizationMode mode = QuantizationMode::kStatic) {
  const Result<QuantizedModel> model = QuantizeModel(graph, Options(mode));
  EXPECT_FALSE(model.has_value());
  return model ? Error{} : model.error();
}

int64_t MacsOf(const Graph& graph) {
  const Result<ModelAnalysis> analysis = Analyze(graph);
  EXPECT_TRUE(analysis.has_value());
  return analysis->totals.flops.mac + analysis->totals.int_op_count / 2;
}

struct Case {
  const char* text;
  std::vector<int64_t> input;
};

class ZooQuantization : public testing::TestWithParam<std::tuple<Case, QuantizationMode>> {
 protected:
  void SetUp() override {
    const auto& [net, mode] = GetParam();
    ModelSpec spec{.text = net.text};
    if (!net.input.empty()) spec.inputs.emplace_back("", net.input);
    Result<Graph> graph = BuildModel(spec);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    graph_ = *std::move(graph);
    model_ = Quantized(graph_, mode);
  }
  Graph graph_;
  QuantizedModel model_;
};

TEST_P(ZooQuantization, EveryProductIsStillThere) {
  EXPECT_EQ(MacsOf(model_.graph), MacsOf(graph_));
  for (const LeftNode& node : model_.left) {
    EXPECT_EQ(node.op_type, "Attention") << node.name << ": " << node.reason;
  }
}

// int8 steps of 1/127 of a channel's largest weight leave some 30 dB of a product of random
// numbers; 15 are left behind a few dozen of them.
TEST_P(ZooQuantization, OutputsStayNear) {
  ASSERT_FALSE(model_.errors.empty());
  for (const OutputError& error : model_.errors) {
    EXPECT_GT(error.sqnr_db.value_or(0), 15) << error.name;
    EXPECT_LT(error.relative_rms_error.value_or(1), 0.18) << error.name;
  }
}

TEST_P(ZooQuantization, WeightsShrinkAndOutputsKeepTheirNames) {
  EXPECT_LT(model_.quantized_weight_bytes, model_.float_weight_bytes);
  ASSERT_EQ(model_.graph.outputs.size(), graph_.outputs.size());
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    EXPECT_EQ(model_.graph.value(model_.graph.outputs[i]).name,
              graph_.value(graph_.outputs[i]).name);
    EXPECT_EQ(model_.graph.value(model_.graph.outputs[i]).type,
              graph_.value(graph_.outputs[i]).type);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, ZooQuantization,
    testing::Combine(
        testing::Values(Case{"mlp", {}}, Case{"lenet", {}}, Case{"resnet18:image=32", {}},
                        Case{"gpt:layers=1,dim=32,heads=2,seq=8,vocab=50", {}},
                        Case{"conv1d(3,8,3,padding=1); relu; conv1d(8,4,3)", {2, 3, 16}},
                        Case{"conv2d(8,8,3,groups=8); conv2d(8,4,1); relu", {1, 8, 9, 9}}),
        testing::Values(QuantizationMode::kStatic, QuantizationMode::kDynamic)));

TEST(QuantizeModelTest, TellsHowFarItIs) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 2});
  const ValueId y = net.Op("MatMul", {x, net.Floats("w", {2, 2}, {1, 2, 3, 4})});
  const Graph graph = std::move(net).Finish({y});
  std::vector<std::string> told;
  QuantizeOptions options{.session = {.backend = Backend::kReference}, .samples = 2, .held_out = 1};
  options.on_progress = [&](std::string_view phase, int64_t done, int64_t total) {
    told.push_back(std::string(phase) + " " + std::to_string(done) + "/" + std::to_string(total));
  };
  ASSERT_TRUE(QuantizeModel(graph, options).has_value());
  EXPECT_EQ(told, (std::vector<std::string>{"calibrating 1/2", "calibrating 2/2", "comparing 1/2",
                                            "comparing 2/2"}));
}

TEST(QuantizeModelTest, OperatorsAreCountedAsTheNetworkHasThem) {
  const Result<Graph> graph = BuildModel({.text = "resnet18:image=32"});
  const QuantizedModel model = Quantized(*graph, QuantizationMode::kStatic);
  ASSERT_EQ(model.operators.size(), 2U);
  EXPECT_EQ(model.operators[0].op_type, "Conv");
  EXPECT_EQ(model.operators[0].quantized, 20);
  EXPECT_EQ(model.operators[1].op_type, "Gemm");
  EXPECT_EQ(model.operators[1].quantized, 1);
  EXPECT_EQ(model.folded_batch_norms, 20);
  EXPECT_EQ(model.other_nodes, 69 - 41);
}

TEST(QuantizeModelTest, ConvolutionsHaveUpToThreeAxes) {
  for (const QuantizationMode mode : {QuantizationMode::kStatic, QuantizationMode::kDynamic}) {
    SmallNet net;
    const ValueId x = net.Input("x", {1, 2, 3, 4, 5});
    const ValueId w = net.builder().Weight("w", {4, 2, 2, 2, 2}, 1);
    const ValueId b = net.builder().Weight("b", {4}, 1);
    const ValueId y = net.Op("Conv", {x, w, b});
    const Graph graph = std::move(net).Finish({y});
    const QuantizedModel model = Quantized(graph, mode);
    EXPECT_EQ(MacsOf(model.graph), MacsOf(graph));
    EXPECT_GT(model.errors[0].sqnr_db.value_or(0), 25);
  }
}

TEST(QuantizeModelTest, WhatHasNoWeightsIsRefused) {
  const Result<Graph> graph = BuildModel({.text = "relu; softmax", .inputs = {{"", {1, 4}}}});
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const Error error = Refused(*graph);
  EXPECT_EQ(error.reason, "NOTHING_TO_QUANTIZE");
  EXPECT_THAT(error.message, HasSubstr("no convolution and no matrix product"));
}

TEST(QuantizeModelTest, AProductOfTwoActivationsIsLeft) {
  SmallNet net;
  const ValueId x = net.Input("x", {2, 2});
  const ValueId y = net.Op("MatMul", {net.Op("Relu", {x}), x});
  const Graph graph = std::move(net).Finish({y});
  EXPECT_THAT(Refused(graph).message, HasSubstr("both operands are computed in the run"));
}

TEST(QuantizeModelTest, AQuantizedModelIsRefused) {
  const Result<Graph> graph = BuildModel({.text = "mlp"});
  const QuantizedModel model = Quantized(*graph, QuantizationMode::kStatic);
  EXPECT_THAT(Refused(model.graph).message, HasSubstr("it is quantized already"));
}

// The logarithm of uniform inputs in [-1, 1) is NaN for half of them.
TEST(QuantizeModelTest, ValuesThatAreNotFiniteAreNamed) {
  SmallNet net;
  const ValueId x = net.Input("x", {2, 2});
  const ValueId y = net.Op("Log", {x});
  const ValueId z = net.Op("MatMul", {y, net.Floats("w", {2, 2}, {1, 2, 3, 4})});
  const Graph graph = std::move(net).Finish({z});
  const Error error = Refused(graph);
  EXPECT_EQ(error.reason, "NOT_FINITE");
  EXPECT_EQ(error.metadata.at("value"), graph.value(y).name);
  EXPECT_EQ(Refused(graph, QuantizationMode::kDynamic).reason, "NOT_FINITE");
}

TEST(QuantizeModelTest, LeftNodesSayWhy) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 2, 4, 4});
  const ValueId y = net.Op("Conv", {x, net.Floats("w", {2, 2, 1, 1}, {1, 2, 3, 4})});
  const ValueId z = net.Op("ConvTranspose", {y, net.Floats("w2", {2, 1, 1, 1}, {1, 2})});
  const QuantizedModel model = Quantized(std::move(net).Finish({z}), QuantizationMode::kStatic);
  ASSERT_EQ(model.left.size(), 1U);
  EXPECT_EQ(model.left[0].op_type, "ConvTranspose");
  EXPECT_EQ(model.left[0].reason, "ONNX has no ConvTranspose of 8-bit numbers");
}

}  // namespace
}  // namespace tinyprof
