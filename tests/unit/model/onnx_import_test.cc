#include "daemon/model/onnx_import.h"

#include <gmock/gmock.h>

#include <cstring>

#include "kernels/runtime/session.h"
#include "kernels/zoo/analysis.h"
#include "tests/unit/model/onnx_test_util.h"

namespace tinyprof {
namespace {

using testing::HasSubstr;

Shape OutputShape(const Graph& graph) { return graph.value(graph.outputs.at(0)).type.shape; }

TEST(OnnxImportTest, ReadsNodesWeightsAndOpset) {
  const Graph graph = Imported(Mlp().Import({.name = "mlp", .batch = 5}));
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.name, "mlp");
  EXPECT_EQ(graph.source, "onnx");
  EXPECT_EQ(graph.opset, 17);
  EXPECT_EQ(OutputShape(graph), (Shape{5, 3}));
  EXPECT_EQ(CountParameters(graph).unique, 15);
  const Result<ModelAnalysis> analysis = Analyze(graph);
  ASSERT_TRUE(analysis.has_value());
  EXPECT_EQ(analysis->totals.flops.mac, 60);
}

TEST(OnnxImportTest, FreeDimensionsAreBoundByName) {
  ModelMaker maker;
  maker.Input("a", {"N", "length"}).Input("b", {"N", "length"}).Output("y");
  maker.Node("Add", {"a", "b"}, {"y"});
  const Graph graph = Imported(maker.Import({.inputs = {{"a", {2, 7}}}}));
  EXPECT_EQ(OutputShape(graph), (Shape{2, 7}));

  const Result<Graph> unbound = maker.Import();
  ASSERT_FALSE(unbound.has_value());
  EXPECT_EQ(unbound.error().reason, "BAD_INPUT");
  EXPECT_THAT(unbound.error().message, HasSubstr("pass --input a=1x128"));
  EXPECT_FALSE(maker.Import({.inputs = {{"a", {2, 7}}, {"b", {2, 8}}}}).has_value());
  EXPECT_FALSE(maker.Import({.inputs = {{"a", {2, 7}}, {"a", {2, 7}}}}).has_value());
  EXPECT_FALSE(maker.Import({.inputs = {{"c", {2, 7}}}}).has_value());
  EXPECT_FALSE(maker.Import({.inputs = {{"a", {2, 7, 1}}}}).has_value());
}

TEST(OnnxImportTest, FixedDimensionsStay) {
  ModelMaker maker;
  maker.Input("x", {"1", "3"}).Output("y");
  maker.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(maker.Import({.inputs = {{"x", {1, 4}}}}).error().reason, "BAD_INPUT");
  EXPECT_EQ(maker.Import({.batch = 8}).error().reason, "BAD_BATCH");
  EXPECT_EQ(maker.Import({.batch = 0}).error().reason, "BAD_BATCH");
  EXPECT_TRUE(maker.Import({.inputs = {{"", {1, 3}}}}).has_value());
}

TEST(OnnxImportTest, MinusOneIsAFreeDimension) {
  ModelMaker maker;
  maker.Input("x", {"-1", "3"}).Output("y");
  maker.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(OutputShape(Imported(maker.Import({.batch = 6}))), (Shape{6, 3}));
}

TEST(OnnxImportTest, UnknownOperatorsAreAllNamed) {
  ModelMaker maker;
  maker.Input("x", {"1"}).Output("z");
  maker.Node("Mystery", {"x"}, {"a"})->set_name("first");
  maker.Node("Relu", {"a"}, {"b"});
  auto* custom = maker.Node("Relu", {"b"}, {"c"});
  custom->set_domain("com.example");
  custom->set_name("second");
  maker.Node("Mystery", {"x"}, {"z"})->set_name("third");
  const Result<Graph> graph = maker.Import();
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().code, ErrorCode::kUnimplemented);
  EXPECT_EQ(graph.error().reason, "UNKNOWN_OPERATOR");
  EXPECT_THAT(graph.error().message, HasSubstr("Mystery (first, third)"));
  EXPECT_THAT(graph.error().message, HasSubstr("com.example::Relu (second)"));
}

TEST(OnnxImportTest, ShapeArithmeticIsWorkedOut) {
  ModelMaker maker;
  maker.Input("x", {"2", "3", "4"}).Output("y");
  maker.Ints("zero", {1}, {0}).Ints("minus", {1}, {-1});
  maker.Node("Shape", {"x"}, {"s"});
  ModelMaker::SetInt(maker.Node("Gather", {"s", "zero"}, {"first"}), "axis", 0);
  ModelMaker::SetInt(maker.Node("Concat", {"first", "minus"}, {"target"}), "axis", 0);
  maker.Node("Reshape", {"x", "target"}, {"y"});
  const Graph graph = Imported(maker.Import());
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].op_type, "Reshape");
  EXPECT_EQ(OutputShape(graph), (Shape{2, 12}));
}

TEST(OnnxImportTest, WeightsInConstantNodesAreParameters) {
  ModelMaker maker;
  maker.Input("x", {"1", "2"}).Output("y");
  auto* constant = maker.Node("Constant", {}, {"w"})->add_attribute();
  constant->set_name("value");
  constant->set_type(onnx::AttributeProto::TENSOR);
  constant->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  constant->mutable_t()->add_dims(2);
  constant->mutable_t()->add_dims(5);
  for (int i = 0; i < 10; ++i) constant->mutable_t()->add_float_data(1);
  maker.Floats("scale", {}, {2});
  maker.Node("MatMul", {"x", "w"}, {"h"});
  maker.Node("Mul", {"h", "scale"}, {"y"});
  const Graph graph = Imported(maker.Import());
  EXPECT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(CountParameters(graph).unique, 10);
}

TEST(OnnxImportTest, OldSoftmaxWorksOnAMatrix) {
  ModelMaker maker(11);
  maker.Input("x", {"2", "3", "4"}).Output("y");
  maker.Node("Softmax", {"x"}, {"y"});
  const Graph graph = Imported(maker.Import());
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.value(graph.nodes[1].inputs[0]).type.shape, (Shape{2, 12}));
  EXPECT_EQ(OutputShape(graph), (Shape{2, 3, 4}));
  ModelMaker newer(13);
  newer.Input("x", {"2", "3", "4"}).Output("y");
  newer.Node("Softmax", {"x"}, {"y"});
  EXPECT_EQ(Imported(newer.Import()).nodes.size(), 1U);
}

TEST(OnnxImportTest, OperandsBeforeOpsetSevenLieAtTheirAxis) {
  ModelMaker maker(6);
  maker.Input("x", {"2", "3", "4"}).Output("y").Floats("b", {3}, {1, 2, 3});
  auto* add = maker.Node("Add", {"x", "b"}, {"y"});
  ModelMaker::SetInt(add, "broadcast", 1);
  ModelMaker::SetInt(add, "axis", 1);
  const Graph graph = Imported(maker.Import());
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.value(graph.nodes[0].inputs[1]).type.shape, (Shape{3, 1}));
  EXPECT_EQ(OutputShape(graph), (Shape{2, 3, 4}));
}

TEST(OnnxImportTest, InputsThatShapesDependOnCanBeFixed) {
  ModelMaker maker;
  maker.Input("x", {"2", "6"}).Input("shape", {"2"}, DType::kInt64).Output("y");
  maker.Node("Reshape", {"x", "shape"}, {"y"});
  EXPECT_EQ(maker.Import().error().reason, "SHAPE_NOT_KNOWN");
  TensorData shape{"shape", {DType::kInt64, Shape{2}}, Fill::Int64s({3, -1}).data};
  const Graph graph = Imported(maker.Import({.fixed = {shape}}));
  EXPECT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(OutputShape(graph), (Shape{3, 4}));
  shape.name = "another";
  EXPECT_EQ(maker.Import({.fixed = {shape}}).error().reason, "BAD_INPUT");
}

TEST(OnnxImportTest, DropoutInTrainingIsRefused) {
  ModelMaker maker;
  maker.Input("x", {"3"}).Output("y").Floats("ratio", {}, {0.5F});
  auto* flag = maker.graph()->add_initializer();
  flag->set_name("training");
  flag->set_data_type(onnx::TensorProto::BOOL);
  flag->add_int32_data(1);
  maker.Node("Dropout", {"x", "ratio", "training"}, {"y"});
  EXPECT_EQ(maker.Import().error().reason, "TRAINING_NOT_SUPPORTED");
  flag->set_int32_data(0, 0);
  EXPECT_EQ(Imported(maker.Import()).nodes.size(), 1U);
}

TEST(OnnxImportTest, UnusedOutputsAndNodesGo) {
  ModelMaker maker;
  maker.Input("x", {"1", "3"}).Output("y");
  maker.Node("Dropout", {"x"}, {"y", "mask"});
  maker.Node("Tanh", {"x"}, {"nobody_reads_this"});
  const Graph graph = Imported(maker.Import());
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].outputs.size(), 1U);
}

// The number of a Split's outputs is the number of its parts, also where nobody reads the last.
TEST(OnnxImportTest, UnusedPartsOfASplitStay) {
  for (const bool sizes_given : {false, true}) {
    ModelMaker maker;
    maker.Input("x", {"1", "6"}).Output("y");
    std::vector<std::string> inputs = {"x"};
    if (sizes_given) {
      maker.Ints("sizes", {3}, {2, 2, 2});
      inputs.emplace_back("sizes");
    }
    ModelMaker::SetInt(maker.Node("Split", inputs, {"a", "b", "c"}), "axis", 1);
    maker.Node("Relu", {"a"}, {"y"});
    const Graph graph = Imported(maker.Import());
    EXPECT_EQ(OutputShape(graph), (Shape{1, 2}));
    ASSERT_EQ(graph.nodes.size(), 2U);
    EXPECT_EQ(graph.nodes[0].outputs.size(), 3U);
    const Result<ModelAnalysis> analysis = Analyze(graph);
    ASSERT_TRUE(analysis.has_value());
    EXPECT_EQ(analysis->totals.flop_count(), 2);
  }
}

TEST(OnnxImportTest, TokenInputsIndexTheirTable) {
  ModelMaker maker;
  maker.Input("ids", {"1", "6"}, DType::kInt64).Output("y");
  maker.Floats("table", {9, 2}, std::vector<float>(18, 1));
  maker.Node("Gather", {"table", "ids"}, {"y"});
  const Graph graph = Imported(maker.Import());
  EXPECT_EQ(graph.value(graph.inputs[0]).fill.value, 9);
}

TEST(OnnxImportTest, ExternalDataIsRefused) {
  ModelMaker maker = Mlp();
  maker.graph()->mutable_initializer(0)->set_data_location(onnx::TensorProto::EXTERNAL);
  EXPECT_EQ(maker.Import().error().reason, "EXTERNAL_DATA");
}

TEST(OnnxImportTest, ShapeErrorsNameTheNode) {
  ModelMaker maker;
  maker.Input("a", {"2", "3"}).Input("b", {"4", "5"}).Output("y");
  maker.Node("MatMul", {"a", "b"}, {"y"})->set_name("product");
  const Result<Graph> graph = maker.Import();
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(graph.error().message, HasSubstr("node 'product' (MatMul)"));
}

}  // namespace
}  // namespace tinyprof
