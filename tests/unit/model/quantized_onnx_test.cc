// Quantized networks as ONNX files: they come back as they went, with what is known of them.
#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "daemon/model/onnx_export.h"
#include "daemon/model/quantization_metadata.h"
#include "kernels/graph/origins.h"
#include "kernels/quantization/quantize.h"
#include "kernels/zoo/analysis.h"
#include "kernels/zoo/model_spec.h"
#include "tests/unit/model/onnx_test_util.h"

namespace tinyprof {
namespace {

Result<std::string> Exported(const Graph& graph) {
  std::string bytes;
  TINYPROF_RETURN_IF_ERROR(ExportOnnx(graph, [&](std::string_view piece) -> Status {
    bytes += piece;
    return {};
  }));
  return bytes;
}

Graph ImportedFrom(const std::string& bytes) {
  return Imported(ImportOnnx(std::as_bytes(std::span(bytes)), {.name = "copy"}));
}

// Its own file, so that it differs from the network in nothing that a file does not keep.
Graph QuantizedOf(const Graph& graph, QuantizationMode mode) {
  Result<QuantizedModel> model = QuantizeModel(
      graph,
      {.mode = mode, .session = {.backend = Backend::kReference}, .samples = 2, .held_out = 1});
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model ? std::move(model->graph) : Graph{};
}

class QuantizedOnnx : public testing::TestWithParam<std::tuple<const char*, QuantizationMode>> {};

TEST_P(QuantizedOnnx, ComesBackAsItWent) {
  const auto& [text, mode] = GetParam();
  const Result<Graph> given = BuildModel({.text = text});
  ASSERT_TRUE(given.has_value()) << given.error().message;
  const Graph graph = QuantizedOf(*given, mode);
  const Result<std::string> bytes = Exported(graph);
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  const Graph copy = ImportedFrom(*bytes);

  const Result<ModelAnalysis> before = Analyze(graph);
  const Result<ModelAnalysis> after = Analyze(copy);
  ASSERT_TRUE(before.has_value() && after.has_value());
  EXPECT_EQ(before->totals, after->totals);
  EXPECT_EQ(before->parameters.unique, after->parameters.unique);
  EXPECT_EQ(before->parameters.unique_bytes, after->parameters.unique_bytes);

  auto first = Session::Create(graph, {.backend = Backend::kReference});
  auto second = Session::Create(copy, {.backend = Backend::kReference});
  ASSERT_TRUE(first.has_value() && second.has_value());
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const TensorView from = (*first)->input(i);
    ASSERT_EQ(from.type, (*second)->input(i).type);
    std::memcpy((*second)->input(i).data, from.data, static_cast<size_t>(from.type.byte_size()));
  }
  (*first)->RunAll();
  (*second)->RunAll();
  const ConstTensorView a = (*first)->output(0);
  const ConstTensorView b = (*second)->output(0);
  ASSERT_EQ(a.type, b.type);
  EXPECT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(a.type.byte_size())), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Models, QuantizedOnnx,
    testing::Combine(testing::Values("mlp", "lenet", "resnet18:image=32",
                                     "gpt:layers=1,dim=32,heads=2,seq=8,vocab=50",
                                     "tinygpt:layers=2,dim=32,heads=2,seq=8"),
                     testing::Values(QuantizationMode::kStatic, QuantizationMode::kDynamic)));

// Errors are of seeded inputs, which are the network's whatever form it comes in.
TEST(QuantizedOnnxTest, AnExportedNetworkHasTheErrorOfItsOwn) {
  const Result<Graph> given = BuildModel({.text = "lenet"});
  ASSERT_TRUE(given.has_value()) << given.error().message;
  const QuantizeOptions options{
      .session = {.backend = Backend::kReference}, .samples = 2, .held_out = 2};
  const Result<QuantizedModel> own = QuantizeModel(*given, options);
  const Result<QuantizedModel> exported = QuantizeModel(ImportedFrom(*Exported(*given)), options);
  ASSERT_TRUE(own.has_value() && exported.has_value());
  ASSERT_EQ(own->errors.size(), exported->errors.size());
  EXPECT_GT(own->errors[0].max_abs_error, 0);
  EXPECT_EQ(own->errors[0].max_abs_error, exported->errors[0].max_abs_error);
  EXPECT_EQ(own->errors[0].sqnr_db, exported->errors[0].sqnr_db);
}

TEST(QuantizedOnnxTest, WhatIsQuantizedAlreadyIsRefused) {
  const Result<Graph> given = BuildModel({.text = "mlp"});
  ASSERT_TRUE(given.has_value()) << given.error().message;
  Graph quantized = QuantizedOf(*given, QuantizationMode::kStatic);
  quantized.quantized = QuantizationFacts{.from = "mlp", .mode = "static"};
  const Result<QuantizedModel> again = QuantizeModel(ImportedFrom(*Exported(quantized)), {});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(again.error().reason, "ALREADY_QUANTIZED");
  EXPECT_EQ(again.error().message, "copy is quantized already, from mlp: quantize mlp instead");
}

// What each float32 node became can be found, and what stands for none was added at a border.
TEST_P(QuantizedOnnx, LayersNameTheNodesTheyCameFrom) {
  const auto& [text, mode] = GetParam();
  const Result<Graph> given = BuildModel({.text = text});
  ASSERT_TRUE(given.has_value()) << given.error().message;
  std::set<std::string> float_nodes;
  for (const Node& node : given->nodes) float_nodes.insert(node.name);
  const Result<ModelAnalysis> analysis =
      Analyze(ImportedFrom(*Exported(QuantizedOf(*given, mode))));
  ASSERT_TRUE(analysis.has_value()) << analysis.error().message;
  std::set<std::string> found;
  for (const LayerAnalysis& layer : analysis->layers) {
    const bool is_border = layer.op == "QuantizeLinear" || layer.op == "DequantizeLinear" ||
                           layer.op == "DynamicQuantizeLinear";
    EXPECT_EQ(is_border, layer.stands_for.empty() && !float_nodes.contains(layer.name))
        << layer.name << " (" << layer.op << ")";
    if (layer.stands_for.empty()) found.insert(layer.name);
    found.insert(layer.stands_for.begin(), layer.stands_for.end());
  }
  EXPECT_THAT(found, testing::IsSupersetOf(float_nodes));
}

TEST(QuantizedOnnxTest, OriginsAreTextInTheFileAndNoAttribute) {
  onnx::NodeProto proto;
  Node node{.name = "conv1", .op_type = "QLinearConv"};
  SetOrigins(node, {"conv1", "bn1", "relu"});
  AddOrigins(node, proto);
  EXPECT_EQ(proto.doc_string(), "tinyprof.stands_for:\nconv1\nbn1\nrelu");
  Node copy{.name = "conv1", .op_type = "QLinearConv"};
  ReadOrigins(proto, copy);
  EXPECT_THAT(OriginsOf(copy), testing::ElementsAre("conv1", "bn1", "relu"));

  for (const std::string& other : {std::string("conv1"), std::string("tinyprof.stands_for:\n"),
                                   std::string("tinyprof.stands_for:\n\xff"),
                                   "tinyprof.stands_for:\n" + std::string(64 << 10, 'x')}) {
    proto.set_doc_string(other);
    Node none{.name = "conv1", .op_type = "QLinearConv"};
    ReadOrigins(proto, none);
    EXPECT_THAT(OriginsOf(none), testing::IsEmpty());
  }
}

// The MLP has 784 * 128 + 128 * 64 + 64 * 10 weights and 202 biases, all of which are trained.
TEST(QuantizedOnnxTest, TrainedElementsStayCounted) {
  const Result<Graph> given = BuildModel({.text = "mlp"});
  for (const QuantizationMode mode : {QuantizationMode::kStatic, QuantizationMode::kDynamic}) {
    const Graph copy = ImportedFrom(*Exported(QuantizedOf(*given, mode)));
    EXPECT_EQ(CountParameters(copy).unique, 109'386);
    EXPECT_EQ(CountParameters(copy).unique_bytes, 109'184 + 4 * 202);
  }
}

TEST(QuantizedOnnxTest, AnUploadedFileIsRewrittenAtItsOpset) {
  ModelMaker maker(13);
  maker.Input("x", {"1", "2"}).Floats("w", {2, 2}, {1, 2, 3, 4}).Output("y");
  maker.Node("MatMul", {"x", "w"}, {"y"});
  const Graph graph = QuantizedOf(Imported(maker.Import()), QuantizationMode::kStatic);
  const Result<std::string> bytes = Exported(graph);
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(*bytes));
  EXPECT_EQ(model.opset_import(0).version(), 13);
  EXPECT_EQ(model.graph().output(0).name(), "y");
  EXPECT_EQ(ImportedFrom(*bytes).nodes.size(), 3U);
}

TEST(QuantizedOnnxTest, AnOlderFileIsRefused) {
  ModelMaker maker(12);
  maker.Input("x", {"1", "2"}).Floats("w", {2, 2}, {1, 2, 3, 4}).Output("y");
  maker.Node("MatMul", {"x", "w"}, {"y"});
  const Result<std::string> bytes =
      Exported(QuantizedOf(Imported(maker.Import()), QuantizationMode::kStatic));
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().reason, "OPSET_NOT_SUPPORTED");
  EXPECT_THAT(bytes.error().message, testing::HasSubstr("opset 12"));
}

TEST(QuantizationMetadataTest, ComesBackAsItWent) {
  onnx::ModelProto model;
  AddQuantization({.from = "resnet18",
                   .mode = "static",
                   .float_weight_bytes = 46'796'992,
                   .quantized_weight_bytes = 11'800'000,
                   .max_abs_error = 0.125,
                   .sqnr_db = 31.25},
                  model);
  EXPECT_EQ(model.metadata_props(0).key(), "tinyprof.quantized_from");
  EXPECT_EQ(model.metadata_props(0).value(), "resnet18");
  const std::optional<QuantizationFacts> facts = QuantizationOf(model);
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->from, "resnet18");
  EXPECT_EQ(facts->mode, "static");
  EXPECT_EQ(facts->float_weight_bytes, 46'796'992);
  EXPECT_EQ(facts->quantized_weight_bytes, 11'800'000);
  EXPECT_EQ(facts->max_abs_error, 0.125);
  EXPECT_EQ(facts->sqnr_db, 31.25);
  EXPECT_FALSE(facts->relative_rms_error.has_value());
  EXPECT_FALSE(facts->top1_agreement.has_value());
}

TEST(QuantizationMetadataTest, WhatCannotBeIsLeftOut) {
  onnx::ModelProto model;
  const auto add = [&](const std::string& key, const std::string& value) {
    auto* entry = model.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("author", "somebody");
  add("tinyprof.sqnr_db", "nan");
  add("tinyprof.top1_agreement", "1.5");
  add("tinyprof.float_weight_bytes", "-4");
  add("tinyprof.quantized_weight_bytes", "12 KiB");
  add("tinyprof.max_abs_error", "1e999");
  add("tinyprof.quantization", "magic");
  EXPECT_FALSE(QuantizationOf(model).has_value());
  add("tinyprof.quantized_from", "a\xff");
  const std::optional<QuantizationFacts> facts = QuantizationOf(model);
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->from, "a?");
  EXPECT_EQ(facts->mode, "");
  EXPECT_FALSE(facts->sqnr_db.has_value() || facts->top1_agreement.has_value() ||
               facts->float_weight_bytes.has_value() || facts->quantized_weight_bytes.has_value() ||
               facts->max_abs_error.has_value());
}

}  // namespace
}  // namespace tinyprof
