#include "kernels/zoo/layer_syntax.h"

#include <gmock/gmock.h>

namespace tinyprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(LayerSyntaxTest, ReadsNamesArgumentsAndPlaces) {
  const auto layers = ParseLayerList("  Linear(784, 128,bias=False) ;relu;");
  ASSERT_TRUE(layers.has_value()) << layers.error().message;
  ASSERT_EQ(layers->size(), 2U);
  const LayerCall& linear = (*layers)[0];
  EXPECT_EQ(linear.name, "linear");
  EXPECT_EQ(linear.text, "Linear(784, 128,bias=False)");
  EXPECT_EQ(linear.position, 2U);
  ASSERT_EQ(linear.arguments.size(), 3U);
  EXPECT_EQ(linear.arguments[1].value.text, "128");
  EXPECT_EQ(linear.arguments[1].name, "");
  EXPECT_EQ(linear.arguments[2].name, "bias");
  EXPECT_EQ(linear.arguments[2].value.kind, ArgumentValue::Kind::kWord);
  EXPECT_EQ((*layers)[1].name, "relu");
  EXPECT_TRUE((*layers)[1].arguments.empty());
}

TEST(LayerSyntaxTest, ReadsListsStringsAndNumbers) {
  const auto layers = ParseLayerList("f((3, 5), [1], 'same', 1e-5, -1, ())");
  ASSERT_TRUE(layers.has_value()) << layers.error().message;
  const std::vector<Argument>& arguments = (*layers)[0].arguments;
  ASSERT_EQ(arguments.size(), 6U);
  EXPECT_THAT(arguments[0].value.numbers, ElementsAre("3", "5"));
  EXPECT_THAT(arguments[1].value.numbers, ElementsAre("1"));
  EXPECT_EQ(arguments[2].value.text, "same");
  EXPECT_EQ(arguments[3].value.text, "1e-5");
  EXPECT_EQ(arguments[4].value.kind, ArgumentValue::Kind::kNumber);
  EXPECT_THAT(arguments[5].value.numbers, ElementsAre());
}

struct Broken {
  const char* text;
  int position;  // from 1
  const char* detail;
};

class BrokenLists : public testing::TestWithParam<Broken> {};

TEST_P(BrokenLists, AreRefusedAtTheirPlace) {
  const auto layers = ParseLayerList(GetParam().text);
  ASSERT_FALSE(layers.has_value());
  EXPECT_EQ(layers.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(layers.error().reason, "BAD_LAYER_LIST");
  EXPECT_EQ(layers.error().metadata.at("position"), std::to_string(GetParam().position));
  EXPECT_THAT(layers.error().message, HasSubstr(GetParam().detail));
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, BrokenLists,
    testing::Values(Broken{"", 1, "got the end, wanted the name of a layer"},
                    Broken{"linear(1,2", 11, "got the end, wanted ',' or ')'"},
                    Broken{"linear 1", 8, "got '1', wanted ';' or the end"},
                    Broken{"relu;;relu", 6, "got ';', wanted the name of a layer"},
                    Broken{"linear(1,,2)", 10, "got ',', wanted a value"},
                    Broken{"linear(1,2))", 12, "wanted ';' or the end"},
                    Broken{"linear(1=2)", 9, "got '=', wanted ',' or ')'"},
                    Broken{"linear(a=)", 10, "got ')', wanted a value"},
                    Broken{"conv((1,2)", 11, "wanted ',' or ')'"},
                    Broken{"conv((1 2))", 9, "got '2', wanted ',' or ')'"},
                    Broken{"conv((a))", 7, "got 'a', wanted a number"},
                    Broken{"conv([1)", 8, "wanted ',' or ']'"}, Broken{"relu $", 6, "no meaning"},
                    Broken{"relu\xff", 5, "no meaning"}, Broken{"f('abc", 3, "never closed"},
                    Broken{"123(4)", 1, "got '123'"}));

TEST(LayerSyntaxTest, TheCaretStandsBelowTheCharacter) {
  const auto layers = ParseLayerList("relu; linear(1,@)");
  ASSERT_FALSE(layers.has_value());
  const std::string& message = layers.error().message;
  const size_t excerpt = message.find('\n') + 1;
  const size_t caret_line = message.find('\n', excerpt) + 1;
  EXPECT_EQ(message.find('@') - excerpt, message.find('^') - caret_line);
}

TEST(LayerSyntaxTest, ControlCharactersDoNotReachTheMessage) {
  const auto layers = ParseLayerList("relu \x1b[31m");
  ASSERT_FALSE(layers.has_value());
  EXPECT_EQ(layers.error().message.find('\x1b'), std::string::npos);
}

TEST(LayerSyntaxTest, LimitsAreErrors) {
  EXPECT_FALSE(ParseLayerList(std::string(kMaxLayerListBytes + 1, ' ')).has_value());
  std::string many;
  for (size_t i = 0; i < kMaxLayers; ++i) many += "relu;";
  EXPECT_TRUE(ParseLayerList(many).has_value());
  EXPECT_FALSE(ParseLayerList(many + "relu").has_value());
  EXPECT_FALSE(ParseLayerList("f((1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17))").has_value());
}

}  // namespace
}  // namespace tinyprof
