#include "kernels/zoo/zoo.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/unit/zoo/zoo_test_util.h"

namespace tinyprof {
namespace {

using testing::HasSubstr;

Shape OutputShape(const Graph& graph) { return graph.value(graph.outputs[0]).type.shape; }

TEST(ZooTest, HasEveryModelOfTheContract) {
  std::set<std::string> names;
  for (const ZooEntry& entry : ZooEntries()) names.emplace(entry.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("mlp", "lenet", "alexnet", "vgg16", "resnet18",
                                                   "resnet50", "bert-base", "gpt2-small", "tinygpt",
                                                   "gpt"));
  EXPECT_NE(FindZooEntry("mlp"), nullptr);
  EXPECT_EQ(FindZooEntry("mlp:"), nullptr);
}

TEST(ZooTest, NodeAndValueNamesAreUnique) {
  for (const ZooEntry& entry : ZooEntries()) {
    const Graph graph = Built(std::string(entry.name));
    std::set<std::string> nodes;
    std::set<std::string> values;
    for (const Node& node : graph.nodes) EXPECT_TRUE(nodes.insert(node.name).second) << node.name;
    for (const Value& value : graph.values) {
      EXPECT_TRUE(values.insert(value.name).second) << entry.name << ": " << value.name;
    }
  }
}

TEST(ZooTest, ParametersSetTheShapes) {
  EXPECT_EQ(OutputShape(Built("resnet18:image=64")), (Shape{1, 1000}));
  EXPECT_EQ(OutputShape(Built("bert-base:seq=7", {}, 2)), (Shape{2, 7, 768}));
  EXPECT_EQ(OutputShape(Built("tinygpt:layers=2,dim=32,heads=2,seq=16,vocab=99", {}, 3)),
            (Shape{3, 16, 99}));
  EXPECT_EQ(OutputShape(Built("gpt:seq=9,layers=1")), (Shape{1, 9, 10000}));
}

TEST(ZooTest, DecodeHasOneTokenAndCachedKeys) {
  const Graph graph = Built("tinygpt:phase=decode,context=33", {}, 2);
  EXPECT_EQ(OutputShape(graph), (Shape{2, 1, 256}));
  ASSERT_EQ(graph.inputs.size(), 1U + 2 * 6);
  EXPECT_EQ(graph.value(graph.inputs[1]).type.shape, (Shape{2, 32, 128}));
  ASSERT_EQ(graph.outputs.size(), 1U + 2 * 6);
  EXPECT_EQ(graph.value(graph.outputs[1]).type.shape, (Shape{2, 33, 128}));
}

TEST(ZooTest, DecodeOfTheFirstTokenHasNoCache) {
  const Graph graph = Built("gpt2-small:phase=decode,context=1");
  EXPECT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(OutputShape(graph), (Shape{1, 1, 50257}));
}

TEST(ZooTest, TheLastPositionIsTheLimit) {
  EXPECT_TRUE(BuildModel({.text = "gpt2-small:phase=decode,context=1024"}).has_value());
  EXPECT_TRUE(BuildModel({.text = "gpt2-small:seq=1024"}).has_value());
  EXPECT_THAT(ErrorOf("gpt2-small:phase=decode,context=1025").message, HasSubstr("from 1 to 1024"));
  EXPECT_THAT(ErrorOf("gpt2-small:seq=1025").message, HasSubstr("from 1 to 1024"));
  EXPECT_THAT(ErrorOf("bert-base:seq=513").message, HasSubstr("from 1 to 512"));
  EXPECT_THAT(ErrorOf("tinygpt:seq=64,phase=decode,context=65").message, HasSubstr("from 1 to 64"));
}

TEST(ZooTest, BadParametersAreErrors) {
  for (const char* text :
       {"mlp:x=1", "resnet18:image", "resnet18:image=", "resnet18:=3", "resnet18:image=64,image=32",
        "resnet18:image=0", "resnet18:image=-1", "resnet18:image=abc", "resnet18:image=99999999999",
        "resnet50:version=2", "resnet18:image=64,", "gpt:phase=train", "gpt:context=5",
        "gpt:phase=decode,seq=5", "tinygpt:dim=100,heads=3", "tinygpt:layers=0",
        "gpt2-small:tied=maybe", "tinygpt:heads=0"}) {
    const Error error = ErrorOf(text);
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument) << text;
    EXPECT_EQ(error.reason, "BAD_PARAMETER") << text;
  }
}

TEST(ZooTest, SizesThatDoNotFitAreErrors) {
  EXPECT_EQ(ErrorOf("resnet18:image=16384", {}, 65536).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf("vgg16:image=100").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf("alexnet:image=3").code, ErrorCode::kInvalidArgument);
}

TEST(ZooTest, TokensAreOfTheVocabulary) {
  const Graph graph = Built("tinygpt:vocab=17");
  std::vector<int64_t> tokens(64);
  Materialize(graph.value(graph.inputs[0]).fill, DType::kInt64, 0, 64, tokens.data());
  EXPECT_THAT(tokens, testing::Each(testing::AllOf(testing::Ge(0), testing::Lt(17))));
}

}  // namespace
}  // namespace tinyprof
