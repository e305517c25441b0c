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

ModelMaker Mlp() {
  ModelMaker maker;
  maker.Input("x", {"N", "4"}).Output("y");
  maker.Floats("w", {4, 3}, std::vector<float>(12, 0.5F)).Floats("b", {3}, {1, 2, 3});
  maker.Node("Gemm", {"x", "w", "b"}, {"h"});
  maker.Node("Relu", {"h"}, {"y"});
  return maker;
}

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

// If(condition) with Relu in one branch and Tanh in the other, both of x from outside.
void AddIf(ModelMaker& maker, const std::string& condition) {
  auto* node = maker.Node("If", {condition}, {"y"});
  for (const auto& [name, op] : {std::pair{"then_branch", "Relu"}, {"else_branch", "Tanh"}}) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    ModelMaker::AddNode(attribute->mutable_g(), op, {"x"}, {"branch_out"});
    attribute->mutable_g()->add_output()->set_name("branch_out");
  }
}

// The branch that is taken gives the same value twice.
TEST(OnnxImportTest, OutputsHaveTheNamesOfTheFile) {
  ModelMaker maker;
  maker.Input("x", {"1", "3"}).Output("y").Output("z");
  maker.Ints("one", {}, {1});
  maker.Node("Equal", {"one", "one"}, {"condition"});
  auto* node = maker.Node("If", {"condition"}, {"y", "z"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    ModelMaker::AddNode(attribute->mutable_g(), "Relu", {"x"}, {"branch_out"});
    for (int i = 0; i < 2; ++i) attribute->mutable_g()->add_output()->set_name("branch_out");
  }
  const Graph graph = Imported(maker.Import());
  std::vector<std::string> names;
  for (const ValueId id : graph.outputs) names.push_back(graph.value(id).name);
  EXPECT_EQ(names, (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "x");
}

TEST(OnnxImportTest, BranchOfAKnownConditionIsTaken) {
  for (const int64_t rate : {16000, 8000}) {
    ModelMaker maker;
    maker.Input("x", {"1", "3"}).Input("rate", {}, DType::kInt64).Output("y");
    maker.Ints("wanted", {}, {16000});
    maker.Node("Equal", {"rate", "wanted"}, {"same"});
    AddIf(maker, "same");
    const Graph graph = Imported(maker.Import({.inputs = {{"rate", {rate}}}}));
    ASSERT_EQ(graph.nodes.size(), 1U);
    EXPECT_EQ(graph.nodes[0].op_type, rate == 16000 ? "Relu" : "Tanh");
    EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");
    EXPECT_EQ(graph.inputs.size(), 1U);

    const Result<Graph> unknown = maker.Import();
    ASSERT_FALSE(unknown.has_value());
    EXPECT_EQ(unknown.error().reason, "CONTROL_FLOW");
    EXPECT_THAT(unknown.error().message, HasSubstr("--input rate=NUMBER"));
  }
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

// x doubles `trips` times; the doubles are stacked.
ModelMaker Doubling(int64_t trips) {
  ModelMaker maker;
  maker.Input("x", {"3"}).Output("last").Output("all").Ints("trips", {}, {trips});
  auto* loop = maker.Node("Loop", {"trips", "", "x"}, {"last", "all"});
  auto* attribute = loop->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  auto* body = attribute->mutable_g();
  for (const char* name : {"i", "go", "v"}) body->add_input()->set_name(name);
  for (const char* name : {"go_on", "twice", "seen"}) body->add_output()->set_name(name);
  ModelMaker::AddNode(body, "Identity", {"go"}, {"go_on"});
  ModelMaker::AddNode(body, "Add", {"v", "v"}, {"twice"});
  ModelMaker::AddNode(body, "Identity", {"twice"}, {"seen"});
  return maker;
}

TEST(OnnxImportTest, LoopsOfKnownLengthAreUnrolled) {
  const Graph graph = Imported(Doubling(4).Import());
  EXPECT_EQ(graph.value(graph.outputs[0]).type.shape, (Shape{3}));
  EXPECT_EQ(graph.value(graph.outputs[1]).type.shape, (Shape{4, 3}));
  const Result<ModelAnalysis> analysis = Analyze(graph);
  ASSERT_TRUE(analysis.has_value());
  EXPECT_EQ(analysis->totals.flop_count(), 4 * 3);
}

// Running sums of two sequences at once, the second of which begins at 100.
TEST(OnnxImportTest, TheScanOfOpset8GoesOverEachElementOfItsBatch) {
  ModelMaker maker(8);
  maker.Input("x", {"2", "3"}).Output("last").Output("all").Floats("start", {2}, {0, 100});
  auto* scan = maker.Node("Scan", {"", "start", "x"}, {"last", "all"});
  ModelMaker::SetInt(scan, "num_scan_inputs", 1);
  auto* attribute = scan->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  auto* body = attribute->mutable_g();
  for (const char* name : {"sum", "element"}) body->add_input()->set_name(name);
  for (const char* name : {"new_sum", "seen"}) body->add_output()->set_name(name);
  ModelMaker::AddNode(body, "Add", {"sum", "element"}, {"new_sum"});
  ModelMaker::AddNode(body, "Identity", {"new_sum"}, {"seen"});
  const Graph graph = Imported(maker.Import());
  const auto session = Session::Create(graph, {.backend = Backend::kReference});
  ASSERT_TRUE(session.has_value()) << session.error().message;
  const std::vector<float> x = {1, 2, 3, 10, 20, 30};
  std::copy(x.begin(), x.end(), (*session)->input(0).As<float>());
  (*session)->RunAll();
  const auto output = [&](size_t index) {
    const ConstTensorView view = (*session)->output(index);
    return std::vector<float>(view.As<float>(), view.As<float>() + view.element_count());
  };
  EXPECT_EQ((*session)->output(1).type.shape, (Shape{2, 3}));
  EXPECT_EQ(output(0), (std::vector<float>{6, 160}));
  EXPECT_EQ(output(1), (std::vector<float>{1, 3, 6, 110, 130, 160}));
}

TEST(OnnxImportTest, LoopsThatNeverEndAreRefused) {
  EXPECT_EQ(Doubling(0).Import().error().reason, "CONTROL_FLOW");
  EXPECT_EQ(Doubling(INT64_MAX).Import().error().code, ErrorCode::kUnimplemented);
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

TEST(OnnxImportTest, BrokenGraphsAreErrors) {
  const auto reason = [](auto&& change) {
    ModelMaker maker = Mlp();
    change(maker);
    const Result<Graph> graph = maker.Import();
    return graph ? std::string("no error") : graph.error().reason;
  };
  EXPECT_EQ(reason([](ModelMaker& m) { m.graph()->mutable_node(0)->set_input(0, "nothing"); }),
            "BAD_ONNX");
  EXPECT_EQ(reason([](ModelMaker& m) { m.graph()->mutable_node(1)->set_output(0, "h"); }),
            "BAD_ONNX");
  EXPECT_EQ(reason([](ModelMaker& m) { m.graph()->mutable_output(0)->set_name("nothing"); }),
            "BAD_ONNX");
  EXPECT_EQ(reason([](ModelMaker& m) { m.graph()->clear_output(); }), "BAD_ONNX");
  EXPECT_EQ(reason([](ModelMaker& m) { m.model()->clear_graph(); }), "BAD_ONNX");
  EXPECT_EQ(reason([](ModelMaker& m) { m.model()->clear_opset_import(); }), "BAD_ONNX");
  EXPECT_EQ(reason([](ModelMaker& m) { m.model()->mutable_opset_import(0)->set_version(0); }),
            "OPSET_NOT_SUPPORTED");
  EXPECT_EQ(reason([](ModelMaker& m) { m.model()->mutable_opset_import(0)->set_version(999); }),
            "OPSET_NOT_SUPPORTED");
  EXPECT_EQ(reason([](ModelMaker& m) { m.graph()->mutable_initializer(0)->add_dims(7); }),
            "BAD_ONNX");
  EXPECT_EQ(reason([](ModelMaker& m) { m.graph()->mutable_initializer(0)->set_dims(0, -4); }),
            "BAD_ONNX");
  EXPECT_EQ(reason([](ModelMaker& m) {
              m.graph()->mutable_initializer(0)->set_data_type(onnx::TensorProto::STRING);
            }),
            "DTYPE_NOT_SUPPORTED");
}

TEST(OnnxImportTest, EveryTruncationIsHandled) {
  const std::string bytes = Mlp().Bytes();
  for (size_t length = 0; length < bytes.size(); ++length) {
    const Result<Graph> graph = ImportOnnx(std::as_bytes(std::span(bytes).first(length)), {});
    EXPECT_FALSE(graph.has_value()) << length;
  }
}

TEST(OnnxImportTest, EveryFlippedByteIsHandled) {
  const std::string original = Mlp().Bytes();
  for (size_t i = 0; i < original.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      std::string bytes = original;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      const Result<Graph> graph = ImportOnnx(std::as_bytes(std::span(bytes)), {});
      EXPECT_TRUE(graph.has_value() || !graph.error().message.empty());
    }
  }
}

TEST(OnnxImportTest, SmallFilesCannotAskForMuchMemory) {
  ModelMaker maker;
  maker.Input("x", {"1"}).Output("y");
  maker.Ints("dims", {1}, {int64_t{1} << 38});
  maker.Node("ConstantOfShape", {"dims"}, {"huge"});
  maker.Node("Add", {"x", "huge"}, {"y"});
  const Graph graph = Imported(maker.Import());
  EXPECT_EQ(graph.nodes.size(), 2U);
}

// A file of `reader_count` nodes that each read all of one large constant and write one element.
ModelMaker ManyReaders(const std::string& op, int64_t element_count, int reader_count) {
  ModelMaker maker;
  maker.Input("x", {"1"}).Output("x_out").Ints("size", {1}, {element_count});
  maker.Node("Identity", {"x"}, {"x_out"});
  auto* fill = maker.Node("ConstantOfShape", {"size"}, {"big"})->add_attribute();
  fill->set_name("value");
  fill->set_type(onnx::AttributeProto::TENSOR);
  fill->mutable_t()->set_data_type(onnx::TensorProto::INT64);
  fill->mutable_t()->add_dims(1);
  fill->mutable_t()->add_int64_data(1);
  maker.Ints("zero", {1}, {0}).Ints("one", {1}, {1});
  for (int i = 0; i < reader_count; ++i) {
    const std::string out = "y" + std::to_string(i);
    std::vector<std::string> inputs = {"big"};
    if (op == "Slice") inputs.insert(inputs.end(), {"zero", "one"});
    if (op == "Gather") inputs.emplace_back("zero");
    maker.Node(op, inputs, {out});
    maker.Output(out);
  }
  return maker;
}

// Elements read times nodes is what folding them all would cost; a second or so is allowed.
TEST(OnnxImportTest, SmallFilesCannotAskForMuchWork) {
  constexpr int64_t kElementCount = 8'000'000;
  constexpr int kReaderCount = 300;
  for (const char* op : {"ArgMax", "Slice", "Gather"}) {
    const Graph graph = Imported(ManyReaders(op, kElementCount, kReaderCount).Import());
    EXPECT_GE(graph.nodes.size(), size_t{kReaderCount} - 200'000'000 / kElementCount) << op;
  }
}

TEST(OnnxImportTest, FoldingFewReadersOfALargeConstantIsFine) {
  const Graph graph = Imported(ManyReaders("ArgMax", 1'000'000, 50).Import());
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].op_type, "Identity");
}

TEST(OnnxImportTest, AShapeThatTakesTooMuchWorkSaysSo) {
  ModelMaker maker = ManyReaders("ArgMax", 8'000'000, 30);
  maker.Node("Reshape", {"x", "y29"}, {"reshaped"});
  maker.Output("reshaped");
  const Result<Graph> graph = maker.Import();
  ASSERT_FALSE(graph.has_value());
  EXPECT_THAT(graph.error().message, HasSubstr("takes too much work"));
}

// Every place of a file that has a name, made one that is no UTF-8.
TEST(OnnxImportTest, NamesThatAreNoTextAreRefusedWithTheirPosition) {
  using Spoil = void (*)(onnx::GraphProto&, const std::string& name);
  const std::vector<std::pair<std::string, Spoil>> places = {
      {"graph 0", [](auto& graph, auto& name) { graph.set_name(name); }},
      {"input 0", [](auto& graph, auto& name) { graph.mutable_input(0)->set_name(name); }},
      {"dimension of input 0",
       [](auto& graph, auto& name) {
         auto* tensor = graph.mutable_input(0)->mutable_type()->mutable_tensor_type();
         tensor->mutable_shape()->mutable_dim(0)->set_dim_param(name);
       }},
      {"output 0", [](auto& graph, auto& name) { graph.mutable_output(0)->set_name(name); }},
      {"initializer 1",
       [](auto& graph, auto& name) { graph.mutable_initializer(1)->set_name(name); }},
      {"node 1", [](auto& graph, auto& name) { graph.mutable_node(1)->set_name(name); }},
      {"node 1", [](auto& graph, auto& name) { graph.mutable_node(1)->set_op_type(name); }},
      {"node 1", [](auto& graph, auto& name) { graph.mutable_node(1)->set_domain(name); }},
      {"input of node 0",
       [](auto& graph, auto& name) { graph.mutable_node(0)->set_input(0, name); }},
      {"output of node 0",
       [](auto& graph, auto& name) { graph.mutable_node(0)->set_output(0, name); }},
      {"attribute of node 0",
       [](auto& graph, auto& name) { graph.mutable_node(0)->add_attribute()->set_name(name); }},
      {"node 0 ",
       [](auto& graph, auto& name) {
         auto* branch = graph.mutable_node(1)->add_attribute()->mutable_g();
         branch->add_node()->set_name(name);
       }},
  };
  for (const auto& [position, spoil] : places) {
    ModelMaker maker = Mlp();
    spoil(*maker.graph(), "w\xff");
    const Result<Graph> graph = maker.Import();
    ASSERT_FALSE(graph.has_value()) << position;
    EXPECT_EQ(graph.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(graph.error().reason, "BAD_ONNX") << position;
    EXPECT_THAT(graph.error().message, HasSubstr(position + (position.back() == ' ' ? "" : " ")));
    EXPECT_THAT(graph.error().message, HasSubstr("'w?'"));
  }
}

TEST(OnnxImportTest, NamesOfAnyLanguageAreKept) {
  ModelMaker maker = Mlp();
  maker.graph()->mutable_node(0)->set_name("\xc3\xa9\xe2\x82\xac");
  const Graph graph = Imported(maker.Import());
  EXPECT_EQ(graph.nodes.at(0).name, "\xc3\xa9\xe2\x82\xac");
}

TEST(OnnxImportTest, FilesThatAreNone) {
  EXPECT_EQ(ImportOnnxFile("/nonexistent/model.onnx", {}).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(ImportOnnxFile("/", {}).has_value());
  EXPECT_FALSE(ImportOnnxFile("/dev/null", {}).has_value());
  EXPECT_FALSE(ImportOnnxFd(-1, {}).has_value());
}

}  // namespace
}  // namespace tinyprof
