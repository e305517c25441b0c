// Layers by their PyTorch arguments: output shapes by the formulas of its documentation.
#include <gmock/gmock.h>

#include "tests/unit/zoo/zoo_test_util.h"

namespace tinyprof {
namespace {

using testing::HasSubstr;
using Dims = std::vector<int64_t>;

struct ShapeCase {
  const char* text;
  Dims input;
  Dims output;
};

class LayerShapes : public testing::TestWithParam<ShapeCase> {};

TEST_P(LayerShapes, Output) {
  const Graph graph = Built(GetParam().text, GetParam().input);
  ASSERT_EQ(graph.outputs.size(), 1U);
  EXPECT_EQ(graph.value(graph.outputs[0]).type.shape.dims(), GetParam().output);
  EXPECT_EQ(graph.source, "layers");
}

INSTANTIATE_TEST_SUITE_P(
    All, LayerShapes,
    testing::Values(
        ShapeCase{"linear(784,128); relu; linear(128,10)", {32, 784}, {32, 10}},
        ShapeCase{"linear(in_features=4, out_features=3)", {2, 5, 4}, {2, 5, 3}},
        ShapeCase{"Conv2d(3,16,3,2,1)", {1, 3, 32, 32}, {1, 16, 16, 16}},
        ShapeCase{"conv2d(3,8,(3,5),stride=(1,2),padding=(0,2))", {1, 3, 9, 9}, {1, 8, 7, 5}},
        ShapeCase{"conv2d(4,8,3,padding='same',dilation=2)", {1, 4, 9, 9}, {1, 8, 9, 9}},
        ShapeCase{"conv2d(4,8,4,padding=same)", {1, 4, 9, 9}, {1, 8, 9, 9}},
        ShapeCase{"conv2d(4,8,3,padding=valid)", {1, 4, 9, 9}, {1, 8, 7, 7}},
        ShapeCase{"conv1d(4,6,3,padding=1)", {2, 4, 10}, {2, 6, 10}},
        // (H - 1) * stride - 2 * padding + kernel + output_padding.
        ShapeCase{"convtranspose2d(8,4,3,stride=2,padding=1,output_padding=1)",
                  {1, 8, 7, 7},
                  {1, 4, 14, 14}},
        ShapeCase{"convtranspose2d(8,4,2,2,0,0,2)", {1, 8, 5, 5}, {1, 4, 10, 10}},
        ShapeCase{"maxpool2d(3,2,1)", {1, 2, 9, 9}, {1, 2, 5, 5}},
        ShapeCase{"maxpool2d(2,ceil_mode=true)", {1, 2, 9, 9}, {1, 2, 5, 5}},
        ShapeCase{"avgpool2d(2)", {1, 2, 9, 9}, {1, 2, 4, 4}},
        ShapeCase{"adaptiveavgpool2d(1)", {1, 2, 9, 9}, {1, 2, 1, 1}},
        ShapeCase{"adaptiveavgpool2d((2,3))", {1, 2, 8, 9}, {1, 2, 2, 3}},
        ShapeCase{"globalavgpool2d", {1, 2, 9, 9}, {1, 2, 1, 1}},
        ShapeCase{"batchnorm1d(6)", {4, 6}, {4, 6}},
        ShapeCase{"batchnorm1d(6)", {4, 6, 3}, {4, 6, 3}},
        ShapeCase{"batchnorm2d(6,affine=false)", {4, 6, 3, 3}, {4, 6, 3, 3}},
        ShapeCase{"layernorm(6); layernorm((3,6))", {4, 3, 6}, {4, 3, 6}},
        ShapeCase{"embedding(100,16); linear(16,4)", {2, 9}, {2, 9, 4}},
        ShapeCase{"mha(16,4)", {2, 9, 16}, {2, 9, 16}},
        ShapeCase{"lstm(8,5)", {2, 9, 8}, {2, 9, 5}},
        ShapeCase{"gru(8,5,bidirectional=true)", {2, 9, 8}, {2, 9, 10}},
        ShapeCase{"rnn(8,5,2,'tanh',true,false)", {9, 2, 8}, {9, 2, 5}},
        ShapeCase{
            "relu; leakyrelu(0.2); prelu; prelu(3); elu(0.5); gelu; gelu('tanh'); silu; "
            "sigmoid; hardsigmoid; hardswish; tanh; softmax(dim=1); logsoftmax(-1); softplus; "
            "dropout(0.1); identity",
            {2, 3, 4},
            {2, 3, 4}},
        ShapeCase{"flatten", {2, 3, 4}, {2, 12}}, ShapeCase{"flatten(0)", {2, 3, 4}, {24}},
        ShapeCase{"flatten(1,2)", {2, 3, 4, 5}, {2, 12, 5}},
        ShapeCase{"reshape(-1,6)", {2, 3, 4}, {4, 6}},
        ShapeCase{"reshape((2,12))", {2, 3, 4}, {2, 12}}));

struct ErrorCase {
  const char* text;
  Dims input;
  const char* reason;
  const char* part;
};

class LayerErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(LayerErrors, SayWhatToChange) {
  const Error error = ErrorOf(GetParam().text, GetParam().input);
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.reason, GetParam().reason);
  EXPECT_THAT(error.message, HasSubstr(GetParam().part));
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, LayerErrors,
    testing::Values(
        ErrorCase{"linaer(3,4)", {}, "BAD_LAYER_LIST", "did you mean linear?"},
        ErrorCase{"zzzzzzzzzz(3)", {}, "BAD_LAYER_LIST", "there are "},
        ErrorCase{"linear(3)", {}, "BAD_LAYER_LIST", "needs argument 'out_features'"},
        ErrorCase{"linear(3,4,true,5)", {}, "BAD_LAYER_LIST", "at most 3 arguments, got 4"},
        ErrorCase{"linear(3,4,bais=true)", {}, "BAD_LAYER_LIST", "did you mean bias?"},
        ErrorCase{"linear(3,in_features=4)", {}, "BAD_LAYER_LIST", "'in_features' is given twice"},
        ErrorCase{"linear(in_features=3,4)", {}, "BAD_LAYER_LIST", "positional argument"},
        ErrorCase{"linear(3,0)", {}, "BAD_LAYER_LIST", "out_features is 0"},
        ErrorCase{"linear(3,-4)", {}, "BAD_LAYER_LIST", "out_features is -4"},
        ErrorCase{"linear(3,4.5)", {}, "BAD_LAYER_LIST", "out_features is 4.5"},
        ErrorCase{"linear(3,99999999999999999999)", {}, "BAD_LAYER_LIST", "wanted an integer"},
        ErrorCase{"linear(3,4,bias=maybe)", {}, "BAD_LAYER_LIST", "wanted true or false"},
        ErrorCase{"leakyrelu(x)", {1, 2}, "BAD_LAYER_LIST", "wanted a number"},
        ErrorCase{"leakyrelu(nan)", {1, 2}, "BAD_LAYER_LIST", "wanted a number"},
        ErrorCase{"gelu(erf)", {1, 2}, "BAD_LAYER_LIST", "wanted none or tanh"},
        ErrorCase{"conv2d(4,8,3,groups=3)", {1, 4, 9, 9}, "BAD_LAYER_LIST", "a divisor of"},
        ErrorCase{"conv2d(4,8,3,2,same)", {1, 4, 9, 9}, "BAD_LAYER_LIST", "stride 1 only"},
        ErrorCase{"conv2d(4,8,(3,3,3))", {1, 4, 9, 9}, "BAD_LAYER_LIST", "has 3 numbers, wanted 2"},
        ErrorCase{"maxpool2d(2,padding=2)", {1, 4, 9, 9}, "BAD_LAYER_LIST", "half of kernel_size"},
        ErrorCase{"mha(10,3)", {1, 4, 10}, "BAD_LAYER_LIST", "a divisor of embed_dim"},
        ErrorCase{"rnn(3,4,1,relu)", {1, 4, 3}, "BAD_LAYER_LIST", "wanted tanh"}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, LayerErrors,
    testing::Values(
        ErrorCase{"linear(784,128); relu; relu; linear(100,10)",
                  {},
                  "SHAPE_MISMATCH",
                  "layer 3 linear(100,10): input has 128 features, wanted 100"},
        ErrorCase{
            "conv2d(3,8,3)", {1, 4, 9, 9}, "SHAPE_MISMATCH", "input has 4 channels, wanted 3"},
        ErrorCase{"conv2d(3,8,3)", {3, 9, 9}, "SHAPE_MISMATCH", "wanted N x C x H x W"},
        ErrorCase{"conv2d(3,8,11)", {1, 3, 9, 9}, "SHAPE_MISMATCH", "layer 0 conv2d(3,8,11): "},
        ErrorCase{"batchnorm2d(3)", {2, 4, 5, 5}, "SHAPE_MISMATCH", "4 channels, wanted 3"},
        ErrorCase{"layernorm(5)", {2, 4}, "SHAPE_MISMATCH", "input is 2x4, wanted ... x 5"},
        ErrorCase{"adaptiveavgpool2d(4)", {1, 1, 6, 6}, "SHAPE_MISMATCH", "multiple of 4"},
        ErrorCase{"lstm(4,5)", {1, 2, 3}, "SHAPE_MISMATCH", "3 features, wanted 4"},
        ErrorCase{"relu; embedding(4,5)", {1, 2}, "SHAPE_MISMATCH", "must be the first layer"},
        ErrorCase{"reshape(5,5)", {2, 3}, "SHAPE_MISMATCH", "layer 0 reshape(5,5): "},
        ErrorCase{"flatten(3)", {2, 3}, "SHAPE_MISMATCH", "an axis 3"},
        ErrorCase{"prelu(7)", {2, 3}, "SHAPE_MISMATCH", "3 channels, wanted 7"}));

TEST(LayerListTest, HugeSizesAreErrors) {
  EXPECT_EQ(ErrorOf("linear(2147483648,2147483648)").reason, "BAD_SHAPE");
  EXPECT_EQ(ErrorOf("linear(1,2)", {1 << 20, 1 << 20, 1 << 20, 1}).reason, "BAD_SHAPE");
  EXPECT_EQ(ErrorOf("linear(1,2147483648)", {1 << 20, 1}).reason, "BAD_SHAPE");
  EXPECT_EQ(ErrorOf("conv2d(1,2147483648,1048576)", {1, 1, 4, 4}).reason, "BAD_SHAPE");
}

TEST(LayerListTest, InputIsDerivedFromALinearLayerOnly) {
  const Graph graph = Built("linear(784,10)", {}, 16);
  EXPECT_EQ(graph.value(graph.inputs[0]).type.shape, (Shape{16, 784}));
  const Error error = ErrorOf("conv2d(3,8,3)");
  EXPECT_EQ(error.reason, "BAD_INPUT");
  EXPECT_THAT(error.message, HasSubstr("--input"));
}

TEST(LayerListTest, EmbeddingsAreFedTokensOfTheirVocabulary) {
  const Graph graph = Built("embedding(37,4)", {2, 5});
  const Value& input = graph.value(graph.inputs[0]);
  EXPECT_EQ(input.type.dtype, DType::kInt64);
  int64_t tokens[10];
  Materialize(input.fill, DType::kInt64, 0, 10, tokens);
  for (const int64_t token : tokens) EXPECT_TRUE(token >= 0 && token < 37) << token;
}

TEST(LayerListTest, SeedChangesTheWeights) {
  const auto first_weight = [](uint64_t seed) {
    const Result<Graph> graph = BuildModel({.text = "linear(4,3)", .seed = seed});
    for (const Value& value : graph->values) {
      if (!value.is_parameter) continue;
      float element = 0;
      Materialize(value.fill, DType::kFloat32, 0, 1, &element);
      return element;
    }
    return 0.0F;
  };
  EXPECT_EQ(first_weight(1), first_weight(1));
  EXPECT_NE(first_weight(1), first_weight(2));
}

}  // namespace
}  // namespace tinyprof
