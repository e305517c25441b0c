// Counts that are published or follow by hand from an architecture.
#include <gmock/gmock.h>

#include "kernels/zoo/zoo.h"
#include "tests/unit/zoo/zoo_test_util.h"

namespace tinyprof {
namespace {

struct ModelFact {
  const char* text;
  int64_t unique_parameters;
  int64_t macs;
};

class ModelFacts : public testing::TestWithParam<ModelFact> {};

TEST_P(ModelFacts, ParametersAndMacs) {
  const ModelAnalysis analysis = Analyzed(GetParam().text);
  EXPECT_EQ(analysis.parameters.unique, GetParam().unique_parameters);
  EXPECT_EQ(analysis.totals.flops.mac, GetParam().macs);
  EXPECT_THAT(analysis.coverage.unknown_ops, testing::IsEmpty());
  EXPECT_EQ(analysis.coverage.nodes_with_rule, analysis.coverage.node_count);
}

INSTANTIATE_TEST_SUITE_P(
    Zoo, ModelFacts,
    testing::Values(
        // 784*128 + 128*64 + 64*10, and a bias for each output.
        ModelFact{"mlp", 109386, 109184},
        // c1 28*28*6*25, c3 10*10*16*150, c5 400*120, f6 120*84, output 84*10.
        ModelFact{"lenet", 61706, 117600 + 240000 + 48000 + 10080 + 840},
        ModelFact{"alexnet", 61100840, 714188480}, ModelFact{"vgg16", 138357544, 15470264320},
        ModelFact{"resnet18", 11689512, 1814073344}, ModelFact{"resnet50", 25557032, 4089184256},
        ModelFact{"resnet50:version=1", 25557032, 3857973248},
        ModelFact{"bert-base:seq=128", 109482240, 11174215680},
        ModelFact{"gpt2-small:seq=128", 124439808, 16114089984},
        ModelFact{"gpt2-small:seq=128,tied=false", 163037184, 16114089984},
        // Blocks 6*(128*12*512^2 + 2*128^2*512), lm_head 128*512*10000.
        ModelFact{"gpt", 29679616, int64_t{6} * (402653184 + 16777216) + 655360000},
        // V*d + S*d + L*(12d^2 + 13d) + 2d; S*L*12d^2 + 2*S^2*d*L + S*d*V.
        ModelFact{"tinygpt", 32768 + 8192 + 6 * (196608 + 1664) + 256,
                  int64_t{64} * 6 * 196608 + 6 * 2 * 64 * 64 * 128 + 64 * 128 * 256}));

TEST(ModelFactsTest, EveryEntryHasItsPublishedParameterCount) {
  for (const ZooEntry& entry : ZooEntries()) {
    EXPECT_EQ(CountParameters(Built(std::string(entry.name))).unique,
              entry.published_parameter_count)
        << entry.name;
  }
}

int64_t OutputElements(const Graph& graph, std::string_view op_type) {
  int64_t count = 0;
  for (const Node& node : graph.nodes) {
    if (node.op_type == op_type) count += graph.value(node.outputs[0]).type.shape.element_count();
  }
  return count;
}

TEST(ModelFactsTest, ResNet50ByOperator) {
  const Graph graph = Built("resnet50");
  EXPECT_EQ(OutputElements(graph, "BatchNormalization"), 11113984);
  EXPECT_EQ(OutputElements(graph, "Relu"), 9608704);
  EXPECT_EQ(OutputElements(graph, "Add"), 5519360);

  const ModelAnalysis analysis = Analyzed(graph);
  EXPECT_EQ(analysis.totals.flops.bias, 1000);
  int64_t without_pools = 0;
  for (const LayerAnalysis& layer : analysis.layers) {
    if (layer.op.find("Pool") == std::string::npos) without_pools += layer.cost->flop_count();
  }
  EXPECT_EQ(without_pools, 8215725544);
}

TEST(ModelFactsTest, BatchMultipliesTheMacs) {
  EXPECT_EQ(Analyzed("resnet18", {}, 3).totals.flops.mac, int64_t{3} * 1814073344);
  EXPECT_EQ(Analyzed("resnet18", {}, 3).parameters.unique, 11689512);
  EXPECT_EQ(Analyzed("bert-base", {}, 2).totals.flops.mac, int64_t{2} * 11174215680);
}

TEST(ModelFactsTest, CausalAttentionCountsTheTriangleBeside) {
  // Of 2*128^2*768 for each layer, the triangle keeps 128*129/2 of 128^2 scores.
  const Cost totals = Analyzed("gpt2-small").totals;
  EXPECT_EQ(totals.flops.mac - totals.valid_tap_mac_count, 301989888 - 152174592);
}

TEST(ModelFactsTest, TiedHeadIsListedTwice) {
  const ParameterCount count = Analyzed("gpt2-small").parameters;
  EXPECT_EQ(count.unique, 124439808);
  EXPECT_EQ(count.listed, 163037184);
  EXPECT_EQ(count.unique_bytes, int64_t{4} * 124439808);
}

TEST(ModelFactsTest, DecodeAttendsTheContext) {
  const ModelAnalysis decode = Analyzed("gpt2-small:phase=decode,context=128");
  // 12 blocks of 12*768^2 and 2*128*768, and lm_head.
  EXPECT_EQ(decode.totals.flops.mac, int64_t{12} * (7077888 + 196608) + 768 * 50257);
  EXPECT_EQ(decode.parameters.unique, 124439808);
}

struct SmallFact {
  const char* text;
  std::vector<int64_t> input;
  int64_t parameters;
  int64_t macs;
  int64_t flops;
};

class SmallFacts : public testing::TestWithParam<SmallFact> {};

TEST_P(SmallFacts, Counts) {
  const ModelAnalysis analysis = Analyzed(GetParam().text, GetParam().input);
  EXPECT_EQ(analysis.parameters.unique, GetParam().parameters);
  EXPECT_EQ(analysis.totals.flops.mac, GetParam().macs);
  EXPECT_EQ(analysis.totals.flop_count(), GetParam().flops);
}

INSTANTIATE_TEST_SUITE_P(
    Layers, SmallFacts,
    testing::Values(
        SmallFact{"linear(128,64)", {1, 128}, 8256, 8192, 16384 + 64},
        SmallFact{"linear(128,64,bias=false)", {7, 5, 128}, 8192, 35 * 8192, 35 * 16384},
        SmallFact{"linear(1000,500)", {32, 1000}, 500500, 16000000, 32016000},
        SmallFact{"linear(768,3072)", {1, 768}, 2362368, 2359296, 4721664},
        SmallFact{"conv2d(3,64,7,stride=2,padding=3,bias=false)",
                  {1, 3, 224, 224},
                  9408,
                  118013952,
                  236027904},
        SmallFact{"conv2d(1,128,3)", {1, 1, 128, 128}, 1280, 18289152, 38610432},
        SmallFact{"convtranspose2d(8,4,2,stride=2,bias=false)", {1, 8, 8, 8}, 128, 8192, 16384},
        // Depthwise: 32 channels of 3x3 on 14x14.
        SmallFact{"conv2d(32,32,3,padding=same,groups=32,bias=false)",
                  {1, 32, 14, 14},
                  288,
                  56448,
                  112896},
        SmallFact{"conv1d(4,6,5,stride=3)", {2, 4, 20}, 126, 1440, 2880 + 72},
        SmallFact{"relu", {5, 7}, 0, 0, 35}, SmallFact{"batchnorm2d(8)", {2, 8, 3, 3}, 16, 0, 288},
        SmallFact{"maxpool2d(2)", {1, 3, 8, 8}, 0, 0, 48 * 3},
        SmallFact{"embedding(100,16)", {2, 9}, 1600, 0, 0}));

TEST(LayerFactsTest, ValidTapsOfResNetsFirstConvolution) {
  const ModelAnalysis analysis =
      Analyzed("conv2d(3,64,7,stride=2,padding=3,bias=false)", {1, 3, 224, 224});
  EXPECT_EQ(analysis.totals.valid_tap_mac_count, 116214528);
}

TEST(LayerFactsTest, CompulsoryBytesOfLinear) {
  const Cost cost = Analyzed("linear(1000,500)", {32, 1000}).totals;
  EXPECT_EQ(cost.compulsory_bytes(), 2194000);
  EXPECT_NEAR(cost.arithmetic_intensity(), 14.59, 0.005);
  EXPECT_EQ(Analyzed("linear(768,3072)").totals.compulsory_bytes(), 9464832);
}

TEST(LayerFactsTest, MlpLayersCost2KnPlusN) {
  const ModelAnalysis analysis = Analyzed("linear(784,128); linear(128,64); linear(64,10)");
  ASSERT_EQ(analysis.layers.size(), 3U);
  EXPECT_EQ(analysis.layers[0].cost->flop_count(), 200832);
  EXPECT_EQ(analysis.layers[1].cost->flop_count(), 16448);
  EXPECT_EQ(analysis.layers[2].cost->flop_count(), 1290);
}

TEST(LayerFactsTest, MultiHeadAttention) {
  for (const std::vector<int64_t>& input : {std::vector<int64_t>{1, 580, 512}, {580, 512}}) {
    const ModelAnalysis analysis = Analyzed("mha(512,4)", input);
    EXPECT_EQ(analysis.totals.flops.mac, 952647680);
    EXPECT_EQ(analysis.parameters.unique, 4 * (512 * 512 + 512));
  }
  EXPECT_EQ(Analyzed("mha(512,4,batch_first=false)", {580, 1, 512}).totals.flops.mac, 952647680);
}

TEST(LayerFactsTest, RecurrentGates) {
  EXPECT_EQ(Analyzed("lstm(64,64)", {1, 100, 64}).totals.flops.mac, 3276800);
  EXPECT_EQ(Analyzed("lstm(64,64,batch_first=false)", {100, 1, 64}).totals.flops.mac, 3276800);
  EXPECT_EQ(Analyzed("gru(64,64)", {1, 100, 64}).totals.flops.mac, 2457600);
  // Two directions of 10 steps, then a second layer that reads both.
  EXPECT_EQ(Analyzed("rnn(8,16,num_layers=2,bidirectional=true)", {3, 10, 8}).totals.flops.mac,
            3 * 10 * 2 * 16 * ((8 + 16) + (32 + 16)));
  // As PyTorch: two biases for each gate.
  EXPECT_EQ(Analyzed("lstm(64,32)", {1, 2, 64}).parameters.unique, 4 * 32 * (64 + 32 + 2));
}

}  // namespace
}  // namespace tinyprof
