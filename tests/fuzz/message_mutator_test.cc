#include "tests/fuzz/message_mutator.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "reflected_onnx.pb.h"

namespace tinyprof {
namespace {

using google::protobuf::util::MessageDifferencer;
using ::testing::IsSupersetOf;

// x -> Relu -> y -> Neg -> z, with one attribute.
reflected_onnx::ModelProto Chain() {
  reflected_onnx::ModelProto model;
  model.set_ir_version(8);
  reflected_onnx::NodeProto& relu = *model.mutable_graph()->add_node();
  relu.set_op_type("Relu");
  relu.add_input("x");
  relu.add_output("y");
  reflected_onnx::NodeProto& neg = *model.mutable_graph()->add_node();
  neg.set_op_type("Neg");
  neg.add_input("y");
  neg.add_output("z");
  reflected_onnx::AttributeProto& attribute = *neg.add_attribute();
  attribute.set_name("axis");
  attribute.set_type(reflected_onnx::AttributeProto::INT);
  attribute.set_i(4);
  return model;
}

TEST(MessageMutatorTest, KeepsMessagesParseable) {
  std::mt19937_64 random(1);
  reflected_onnx::ModelProto model = Chain();
  for (int i = 0; i < 300; ++i) {
    MutateMessage(model, random);
    reflected_onnx::ModelProto read;
    ASSERT_TRUE(read.ParseFromString(model.SerializeAsString()));
    ASSERT_TRUE(MessageDifferencer::Equals(read, model));
    if (model.ByteSizeLong() > 10000) model = Chain();
  }
}

TEST(MessageMutatorTest, MakesCyclesMissingValuesAndExtremes) {
  std::mt19937_64 random(2);
  std::set<std::string> first_inputs;
  std::set<int> node_counts;
  std::set<int64_t> attribute_values;
  for (int i = 0; i < 3000; ++i) {
    reflected_onnx::ModelProto model = Chain();
    MutateMessage(model, random);
    node_counts.insert(model.graph().node_size());
    if (model.graph().node_size() == 0) continue;
    const reflected_onnx::NodeProto& node = model.graph().node(0);
    first_inputs.insert(node.input_size() == 0 ? "(none)" : node.input(0));
    if (model.graph().node_size() < 2 || model.graph().node(1).attribute_size() == 0) continue;
    attribute_values.insert(model.graph().node(1).attribute(0).i());
  }
  // What the node gives itself, what a later one gives, nothing.
  EXPECT_THAT(first_inputs, IsSupersetOf({"x", "y", "z", "(none)"}));
  EXPECT_THAT(node_counts, IsSupersetOf({1, 2, 3}));
  EXPECT_THAT(attribute_values, IsSupersetOf({int64_t{3}, int64_t{5}, int64_t{-4}, int64_t{0},
                                              std::numeric_limits<int64_t>::max(),
                                              std::numeric_limits<int64_t>::min()}));
}

TEST(MessageMutatorTest, CrossingBringsPartsOfTheOther) {
  std::mt19937_64 random(3);
  reflected_onnx::ModelProto other;
  other.mutable_graph()->add_node()->set_op_type("Softmax");
  std::set<std::string> op_types;
  for (int i = 0; i < 1000; ++i) {
    reflected_onnx::ModelProto model = Chain();
    CrossMessages(model, other, random);
    for (const reflected_onnx::NodeProto& node : model.graph().node())
      op_types.insert(node.op_type());
  }
  EXPECT_THAT(op_types, IsSupersetOf({"Relu", "Neg", "Softmax"}));
}

TEST(MessageMutatorTest, LeavesAnEmptyMessageAlone) {
  std::mt19937_64 random(4);
  reflected_onnx::ModelProto model;
  MutateMessage(model, random);
  CrossMessages(model, Chain(), random);
  EXPECT_EQ(model.ByteSizeLong(), 0U);
}

}  // namespace
}  // namespace tinyprof
