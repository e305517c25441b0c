// ONNX files that are broken, hostile or no such files: each is an error, and takes little.
#include <gmock/gmock.h>

#include <cstring>

#include "daemon/model/onnx_import.h"
#include "tests/unit/model/onnx_test_util.h"

namespace tinyprof {
namespace {

using testing::HasSubstr;

TEST(OnnxBadFilesTest, BrokenGraphsAreErrors) {
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

TEST(OnnxBadFilesTest, EveryTruncationIsHandled) {
  const std::string bytes = Mlp().Bytes();
  for (size_t length = 0; length < bytes.size(); ++length) {
    const Result<Graph> graph = ImportOnnx(std::as_bytes(std::span(bytes).first(length)), {});
    EXPECT_FALSE(graph.has_value()) << length;
  }
}

TEST(OnnxBadFilesTest, EveryFlippedByteIsHandled) {
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

TEST(OnnxBadFilesTest, SmallFilesCannotAskForMuchMemory) {
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
TEST(OnnxBadFilesTest, SmallFilesCannotAskForMuchWork) {
  constexpr int64_t kElementCount = 8'000'000;
  constexpr int kReaderCount = 300;
  for (const char* op : {"ArgMax", "Slice", "Gather"}) {
    const Graph graph = Imported(ManyReaders(op, kElementCount, kReaderCount).Import());
    EXPECT_GE(graph.nodes.size(), size_t{kReaderCount} - 200'000'000 / kElementCount) << op;
  }
}

TEST(OnnxBadFilesTest, FoldingFewReadersOfALargeConstantIsFine) {
  const Graph graph = Imported(ManyReaders("ArgMax", 1'000'000, 50).Import());
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].op_type, "Identity");
}

TEST(OnnxBadFilesTest, AShapeThatTakesTooMuchWorkSaysSo) {
  ModelMaker maker = ManyReaders("ArgMax", 8'000'000, 30);
  maker.Node("Reshape", {"x", "y29"}, {"reshaped"});
  maker.Output("reshaped");
  const Result<Graph> graph = maker.Import();
  ASSERT_FALSE(graph.has_value());
  EXPECT_THAT(graph.error().message, HasSubstr("takes too much work"));
}

// Every place of a file that has a name, made one that is no UTF-8.
TEST(OnnxBadFilesTest, NamesThatAreNoTextAreRefusedWithTheirPosition) {
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

TEST(OnnxBadFilesTest, NamesOfAnyLanguageAreKept) {
  ModelMaker maker = Mlp();
  maker.graph()->mutable_node(0)->set_name("\xc3\xa9\xe2\x82\xac");
  const Graph graph = Imported(maker.Import());
  EXPECT_EQ(graph.nodes.at(0).name, "\xc3\xa9\xe2\x82\xac");
}

TEST(OnnxBadFilesTest, FilesThatAreNone) {
  EXPECT_EQ(ImportOnnxFile("/nonexistent/model.onnx", {}).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(ImportOnnxFile("/", {}).has_value());
  EXPECT_FALSE(ImportOnnxFile("/dev/null", {}).has_value());
  EXPECT_FALSE(ImportOnnxFd(-1, {}).has_value());
}

}  // namespace
}  // namespace tinyprof
