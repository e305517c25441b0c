#include "daemon/convert/model_spec.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tinyprof {
namespace {

using ::testing::ElementsAre;

TEST(ModelSpecTest, ZeroMeansTheDefault) {
  v1::ModelSpec message;
  message.set_text("mlp");
  const ModelSpec spec = FromProto(message);
  EXPECT_EQ(spec.text, "mlp");
  EXPECT_EQ(spec.batch, 1);
  EXPECT_EQ(spec.seed, 1u);
  EXPECT_TRUE(spec.inputs.empty());
}

TEST(ModelSpecTest, KeepsWhatIsGiven) {
  v1::ModelSpec message;
  message.set_batch(7);
  message.set_seed(UINT64_MAX);
  v1::InputShape& input = *message.add_inputs();
  input.set_name("x");
  input.add_dims(2);
  input.add_dims(3);
  const ModelSpec spec = FromProto(message);
  EXPECT_EQ(spec.batch, 7);
  EXPECT_EQ(spec.seed, UINT64_MAX);
  ASSERT_EQ(spec.inputs.size(), 1u);
  EXPECT_EQ(spec.inputs[0].first, "x");
  EXPECT_THAT(spec.inputs[0].second, ElementsAre(2, 3));
}

TEST(BuildGraphTest, BuildsWhatTheTextNames) {
  v1::ModelSpec message;
  message.set_text("relu");
  message.add_inputs()->add_dims(4);
  const Result<Graph> graph = BuildGraph(message, -1);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  ASSERT_EQ(graph->nodes.size(), 1u);
  EXPECT_EQ(graph->nodes[0].op_type, "Relu");
}

TEST(BuildGraphTest, RefusesAFileThatIsNoModel) {
  v1::ModelSpec message;
  message.set_text("uploaded");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(BuildGraph(message, ends[0]).has_value()) << "a pipe cannot be mapped";
  ::close(ends[0]);
  ::close(ends[1]);
  const int self = ::open("/proc/self/exe", O_RDONLY);
  const Result<Graph> graph = BuildGraph(message, self);
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().code, ErrorCode::kInvalidArgument);
  message.set_batch(-1);
  EXPECT_EQ(BuildGraph(message, self).error().reason, "BAD_BATCH");
  ::close(self);
}

}  // namespace
}  // namespace tinyprof
