// If, Loop and Scan in ONNX files: branches that are known are taken, loops of known length
// unrolled.
#include <gmock/gmock.h>

#include <algorithm>

#include "daemon/model/onnx_import.h"
#include "kernels/runtime/session.h"
#include "kernels/zoo/analysis.h"
#include "tests/unit/model/onnx_test_util.h"

namespace tinyprof {
namespace {

using testing::HasSubstr;

// What the model makes of `x`, its only input of the run.
std::vector<std::vector<float>> OutputsOf(const ModelMaker& maker, const std::vector<float>& x) {
  const Graph graph = Imported(maker.Import());
  const auto session = Session::Create(graph, {.backend = Backend::kReference});
  if (!session || graph.inputs.empty()) {
    ADD_FAILURE() << "the model cannot run";
    return std::vector<std::vector<float>>(graph.outputs.size() + 2);
  }
  std::copy(x.begin(), x.end(), (*session)->input(0).As<float>());
  (*session)->RunAll();
  std::vector<std::vector<float>> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const ConstTensorView view = (*session)->output(i);
    outputs.emplace_back(view.As<float>(), view.As<float>() + view.element_count());
  }
  return outputs;
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
TEST(OnnxControlFlowTest, OutputsHaveTheNamesOfTheFile) {
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

TEST(OnnxControlFlowTest, BranchOfAKnownConditionIsTaken) {
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

// Makes `maker` a Loop of `trips` over x, whose body has these outputs: whether it goes on, the
// state, what is stacked. Returns the body, which is to be filled.
onnx::GraphProto* AddLoop(ModelMaker& maker, int64_t trips,
                          const std::vector<std::string>& body_outputs) {
  maker.Input("x", {"3"}).Output("last").Output("all").Ints("trips", {}, {trips});
  auto* attribute = maker.Node("Loop", {"trips", "", "x"}, {"last", "all"})->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  auto* body = attribute->mutable_g();
  for (const char* name : {"i", "go", "v"}) body->add_input()->set_name(name);
  for (const std::string& name : body_outputs) body->add_output()->set_name(name);
  return body;
}

// x doubles `trips` times; the doubles are stacked.
ModelMaker Doubling(int64_t trips) {
  ModelMaker maker;
  auto* body = AddLoop(maker, trips, {"go_on", "twice", "seen"});
  ModelMaker::AddNode(body, "Identity", {"go"}, {"go_on"});
  ModelMaker::AddNode(body, "Add", {"v", "v"}, {"twice"});
  ModelMaker::AddNode(body, "Identity", {"twice"}, {"seen"});
  return maker;
}

TEST(OnnxControlFlowTest, LoopsOfKnownLengthAreUnrolled) {
  const Graph graph = Imported(Doubling(4).Import());
  EXPECT_EQ(graph.value(graph.outputs[0]).type.shape, (Shape{3}));
  EXPECT_EQ(graph.value(graph.outputs[1]).type.shape, (Shape{4, 3}));
  const Result<ModelAnalysis> analysis = Analyze(graph);
  ASSERT_TRUE(analysis.has_value());
  EXPECT_EQ(analysis->totals.flop_count(), 4 * 3);
}

// Branches that pass on a value from outside of them.
TEST(OnnxControlFlowTest, BranchesGiveValuesFromOutside) {
  for (const int64_t taken : {1, 2}) {
    ModelMaker maker;
    maker.Input("x", {"3"}).Output("y").Output("h").Ints("one", {}, {1}).Ints("taken", {}, {taken});
    maker.Node("Relu", {"x"}, {"h"});
    maker.Node("Equal", {"one", "taken"}, {"condition"});
    auto* node = maker.Node("If", {"condition"}, {"y"});
    for (const auto& [name, value] : {std::pair{"then_branch", "h"}, {"else_branch", "x"}}) {
      auto* attribute = node->add_attribute();
      attribute->set_name(name);
      attribute->set_type(onnx::AttributeProto::GRAPH);
      attribute->mutable_g()->add_output()->set_name(value);
    }
    const std::vector<float> relu = {0, 0, 7};
    const std::vector<float> as_is = {-1, 0, 7};
    const std::vector<std::vector<float>> got = OutputsOf(maker, {-1, 0, 7});
    EXPECT_EQ(got[0], taken == 1 ? relu : as_is);
    EXPECT_EQ(got[1], relu);
  }
}

TEST(OnnxControlFlowTest, BodiesGiveValuesFromOutside) {
  ModelMaker maker;
  auto* body = AddLoop(maker, 2, {"go", "twice", "x"});
  ModelMaker::AddNode(body, "Add", {"v", "v"}, {"twice"});
  const std::vector<std::vector<float>> got = OutputsOf(maker, {1, 2, 3});
  EXPECT_EQ(got[0], (std::vector<float>{4, 8, 12}));
  EXPECT_EQ(got[1], (std::vector<float>{1, 2, 3, 1, 2, 3}));
}

// Running sums of two sequences at once, the second of which begins at 100.
ModelMaker RunningSums(const std::string& lengths, int64_t direction) {
  ModelMaker maker(8);
  maker.Input("x", {"2", "3"}).Output("last").Output("all").Floats("start", {2}, {0, 100});
  auto* scan = maker.Node("Scan", {lengths, "start", "x"}, {"last", "all"});
  ModelMaker::SetInt(scan, "num_scan_inputs", 1);
  auto* directions = scan->add_attribute();
  directions->set_name("directions");
  directions->set_type(onnx::AttributeProto::INTS);
  directions->add_ints(direction);
  auto* attribute = scan->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  auto* body = attribute->mutable_g();
  for (const char* name : {"sum", "element"}) body->add_input()->set_name(name);
  for (const char* name : {"new_sum", "seen"}) body->add_output()->set_name(name);
  ModelMaker::AddNode(body, "Add", {"sum", "element"}, {"new_sum"});
  ModelMaker::AddNode(body, "Identity", {"new_sum"}, {"seen"});
  return maker;
}

TEST(OnnxControlFlowTest, TheScanOfOpset8GoesOverEachElementOfItsBatch) {
  const std::vector<std::vector<float>> got = OutputsOf(RunningSums("", 0), {1, 2, 3, 10, 20, 30});
  EXPECT_EQ(got[0], (std::vector<float>{6, 160}));
  EXPECT_EQ(got[1], (std::vector<float>{1, 3, 6, 110, 130, 160}));
}

// After its end a sequence keeps its state and gives 0; backwards it begins at its own end.
TEST(OnnxControlFlowTest, SequencesOfAScanEndByThemselves) {
  for (const int64_t direction : {0, 1}) {
    ModelMaker maker = RunningSums("lengths", direction);
    maker.Ints("lengths", {2}, {2, 3});
    const std::vector<std::vector<float>> got = OutputsOf(maker, {1, 2, 3, 10, 20, 30});
    EXPECT_EQ(got[0], (std::vector<float>{3, 160}));
    EXPECT_EQ(got[1], direction == 0 ? (std::vector<float>{1, 3, 0, 110, 130, 160})
                                     : (std::vector<float>{2, 3, 0, 130, 150, 160}));
    const Result<ModelAnalysis> analysis = Analyze(Imported(maker.Import()));
    ASSERT_TRUE(analysis.has_value());
    EXPECT_EQ(analysis->totals.flop_count(), 2 + 3);
  }
}

TEST(OnnxControlFlowTest, LengthsOfAScanHaveToBeKnownAndFit) {
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{0, 3}, {2, 4}, {-1, 2}, {2}, {1, 2, 3}}) {
    ModelMaker maker = RunningSums("lengths", 0);
    maker.Ints("lengths", {static_cast<int64_t>(lengths.size())}, lengths);
    const Result<Graph> graph = maker.Import();
    ASSERT_FALSE(graph.has_value());
    EXPECT_EQ(graph.error().reason, "BAD_ONNX") << graph.error().message;
  }
  ModelMaker floats = RunningSums("lengths", 0);
  floats.Floats("lengths", {2}, {2, 3});
  EXPECT_EQ(floats.Import().error().reason, "BAD_ONNX");
  ModelMaker unknown = RunningSums("lengths", 0);
  unknown.Input("lengths", {"2"}, DType::kInt64);
  EXPECT_EQ(unknown.Import().error().reason, "CONTROL_FLOW");
}

TEST(OnnxControlFlowTest, LoopsThatNeverEndAreRefused) {
  EXPECT_EQ(Doubling(0).Import().error().reason, "CONTROL_FLOW");
  EXPECT_EQ(Doubling(INT64_MAX).Import().error().code, ErrorCode::kUnimplemented);
}

}  // namespace
}  // namespace tinyprof
