// Conv and ConvTranspose: values against the double loop, counts against hand counts, a brute-force
// walk over taps, and the counting scalar.
#include <gtest/gtest.h>

#include "kernels/ops/conv/reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using Ints = std::vector<int64_t>;

OpCase Conv(Shape x, Shape w, Attributes attributes = {}, bool bias = true) {
  OpCase op_case{.op_type = "Conv",
                 .attributes = std::move(attributes),
                 .inputs = {Activation(std::move(x)), WeightOf(w)},
                 .dot_length = w.element_count() / std::max<int64_t>(w[0], 1) + 1};
  if (bias) op_case.inputs.push_back(WeightOf({w[0]}));
  return op_case;
}

OpCase ConvTranspose(Shape x, Shape w, Attributes attributes = {}, bool bias = true) {
  const int64_t groups =
      attributes.contains("group") ? std::get<int64_t>(attributes.find("group")->second) : 1;
  const int64_t out_channels = w[1] * groups;
  OpCase op_case{.op_type = "ConvTranspose",
                 .attributes = std::move(attributes),
                 .inputs = {Activation(std::move(x)), WeightOf(w)},
                 .dot_length = w.element_count() + 1};
  if (bias) op_case.inputs.push_back(WeightOf({out_channels}));
  return op_case;
}

void ExpectShape(const OpCase& op_case, const Shape& want) {
  const auto types = InferCase(op_case);
  ASSERT_TRUE(types.has_value()) << types.error().message;
  EXPECT_EQ((*types)[0].shape, want);
}

void ExpectRefused(const OpCase& op_case, const std::string& reason) {
  const auto types = InferCase(op_case);
  ASSERT_FALSE(types.has_value());
  EXPECT_EQ(types.error().reason, reason) << types.error().message;
}

// Two-dimensional cases of every path: pointwise, unfolded, depthwise, grouped, strided, dilated,
// and pads on one side only.
std::vector<OpCase> PlanarCases() {
  return {
      Conv({2, 5, 9, 11}, {7, 5, 1, 1}),
      Conv({1, 16, 30, 30}, {24, 16, 1, 1}, {}, false),
      Conv({1, 8, 9, 9}, {6, 8, 1, 1}, {{"strides", Ints{2, 2}}}),
      Conv({2, 3, 10, 13}, {8, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}),
      Conv({1, 3, 33, 31}, {16, 3, 7, 7}, {{"pads", Ints{3, 3, 3, 3}}, {"strides", Ints{2, 2}}}),
      Conv({1, 4, 12, 9}, {6, 4, 3, 2}, {{"pads", Ints{0, 2, 1, 0}}, {"strides", Ints{3, 1}}}),
      Conv({1, 4, 20, 17}, {5, 4, 3, 3}, {{"dilations", Ints{2, 3}}, {"pads", Ints{2, 3, 2, 3}}}),
      Conv({2, 6, 11, 10}, {8, 3, 3, 3}, {{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}}),
      Conv({2, 6, 11, 10}, {6, 1, 3, 3}, {{"group", int64_t{6}}, {"pads", Ints{1, 1, 1, 1}}}),
      Conv({1, 6, 15, 14}, {12, 1, 5, 5},
           {{"group", int64_t{6}}, {"pads", Ints{2, 2, 2, 2}}, {"strides", Ints{2, 2}}}),
      Conv({1, 64, 7, 7}, {96, 64, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}),
      Conv({1, 3, 40, 41}, {4, 3, 3, 3}, {{"strides", Ints{1, 3}}}),
      Conv({1, 1, 2, 2}, {1, 1, 5, 5}, {{"pads", Ints{4, 4, 4, 4}}}),
  };
}

TEST(ConvTest, EveryKernelAgreesInTwoDimensions) {
  for (const OpCase& op_case : PlanarCases()) {
    SCOPED_TRACE(op_case.inputs[0].type.shape.ToString() + " with " +
                 op_case.inputs[1].type.shape.ToString());
    CheckOp(op_case);
  }
}

TEST(ConvTest, EveryKernelAgreesInOneAndThreeDimensions) {
  CheckOp(Conv({2, 4, 50}, {6, 4, 5}, {{"pads", Ints{2, 1}}, {"strides", Ints{2}}}));
  CheckOp(Conv({1, 3, 5, 6, 7}, {4, 3, 3, 2, 3},
               {{"pads", Ints{1, 0, 1, 1, 0, 1}}, {"strides", Ints{1, 2, 1}}}));
  CheckOp(Conv({1, 4, 5, 6, 7}, {4, 1, 3, 3, 3},
               {{"group", int64_t{4}}, {"pads", Ints{1, 1, 1, 1, 1, 1}}}));
}

// Products that are cut: into blocks of lines, of columns, of channels, and into steps along the
// input's channels; with strides and dilations that leave phases out; weights of the run.
TEST(ConvTest, EveryKernelAgreesWhereTheWorkIsCut) {
  CheckOp(Conv({1, 4, 2500}, {70, 4, 5}, {{"pads", Ints{2, 2}}}));
  CheckOp(Conv({1, 2, 3, 1400}, {65, 2, 2, 3}, {{"strides", Ints{1, 2}}}));
  CheckOp(Conv({1, 3, 70, 61}, {130, 3, 3, 3},
               {{"strides", Ints{2, 2}}, {"dilations", Ints{2, 3}}, {"pads", Ints{2, 3, 2, 3}}}));
  CheckOp(Conv({1, 100, 12, 12}, {26, 100, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}));
  CheckOp(Conv({3, 8, 5, 40, 40}, {14, 4, 3, 3, 3},
               {{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1, 1, 1}}}));
  CheckOp(Conv({1, 2, 40, 40}, {3, 2, 21, 21}, {{"pads", Ints{10, 10, 10, 10}}}));
  OpCase weights_of_the_run = Conv({2, 20, 20, 20}, {15, 20, 3, 3}, {}, false);
  weights_of_the_run.inputs[1] = Activation({15, 20, 3, 3});
  CheckOp(weights_of_the_run);
  weights_of_the_run.attributes = {{"dilations", Ints{6, 6}}};
  CheckOp(weights_of_the_run);
}

TEST(ConvTest, AutoPadKeepsTheLength) {
  const auto same = [](const char* mode, int64_t stride) {
    return Conv({1, 2, 8, 9}, {3, 2, 3, 4},
                {{"auto_pad", std::string(mode)}, {"strides", Ints{stride, stride}}});
  };
  ExpectShape(same("SAME_UPPER", 1), {1, 3, 8, 9});
  ExpectShape(same("SAME_LOWER", 2), {1, 3, 4, 5});
  ExpectShape(same("VALID", 1), {1, 3, 6, 6});
  CheckOp(same("SAME_UPPER", 1));
  CheckOp(same("SAME_LOWER", 2));
  // Length 2, kernel 2 of ones: the one pad lies at the end for UPPER, at the beginning for LOWER.
  const auto tiny = [](const char* mode) {
    return OpCase{.op_type = "Conv",
                  .attributes = {{"auto_pad", std::string(mode)}},
                  .inputs = {FloatsOf({1, 1, 2}, {10, 1}), FloatsOf({1, 1, 2}, {1, 1}, true)},
                  .dot_length = 2};
  };
  EXPECT_EQ(TrueOutputs(tiny("SAME_UPPER"))[0], (std::vector<double>{11, 1}));
  EXPECT_EQ(TrueOutputs(tiny("SAME_LOWER"))[0], (std::vector<double>{10, 11}));
}

TEST(ConvTest, IsACorrelation) {
  // 1*4 + 2*5 and 2*4 + 3*5, by hand: the kernel is not flipped.
  const OpCase op_case{
      .op_type = "Conv",
      .inputs = {FloatsOf({1, 1, 3}, {1, 2, 3}), FloatsOf({1, 1, 2}, {4, 5}, true)},
      .dot_length = 2};
  EXPECT_EQ(TrueOutputs(op_case)[0], (std::vector<double>{14, 23}));
}

TEST(ConvTest, EmptyBatch) { CheckOp(Conv({0, 3, 8, 8}, {4, 3, 3, 3})); }

TEST(ConvTest, RefusesWhatDoesNotFit) {
  ExpectRefused(Conv({1, 3, 8, 8}, {4, 2, 3, 3}), "SHAPE_MISMATCH");
  ExpectRefused(Conv({1, 3, 2, 2}, {4, 3, 3, 3}), "SHAPE_MISMATCH");
  ExpectRefused(Conv({1, 3, 8, 8}, {4, 3, 3}), "SHAPE_MISMATCH");
  ExpectRefused(Conv({3, 8}, {4, 3}), "SHAPE_MISMATCH");
  ExpectRefused(Conv({1, 4, 8, 8}, {3, 2, 3, 3}, {{"group", int64_t{2}}}), "SHAPE_MISMATCH");
  ExpectRefused(Conv({1, 3, 8, 8}, {4, 3, 0, 3}), "BAD_ATTRIBUTE");
  for (const Attributes& attributes :
       {Attributes{{"group", int64_t{0}}}, Attributes{{"strides", Ints{0, 1}}},
        Attributes{{"strides", Ints{1}}}, Attributes{{"pads", Ints{-1, 0, 0, 0}}},
        Attributes{{"dilations", Ints{1, int64_t{1} << 40}}},
        Attributes{{"kernel_shape", Ints{5, 5}}}, Attributes{{"auto_pad", std::string("SAME")}}}) {
    SCOPED_TRACE(attributes.begin()->first);
    ExpectRefused(Conv({1, 3, 8, 8}, {4, 3, 3, 3}, attributes), "BAD_ATTRIBUTE");
  }
  OpCase bad_bias = Conv({1, 3, 8, 8}, {4, 3, 3, 3}, {}, false);
  bad_bias.inputs.push_back(WeightOf({3}));
  ExpectRefused(bad_bias, "SHAPE_MISMATCH");
}

TEST(ConvTest, CountsOfThePublishedCases) {
  const Cost resnet =
      CostOfCase(Conv({1, 3, 224, 224}, {64, 3, 7, 7},
                      {{"pads", Ints{3, 3, 3, 3}}, {"strides", Ints{2, 2}}}, false));
  EXPECT_EQ(resnet.flops.mac, 118013952);
  EXPECT_EQ(resnet.valid_tap_mac_count, 116214528);

  const Cost wide = CostOfCase(Conv({1, 1, 128, 128}, {128, 1, 3, 3}));
  EXPECT_EQ(wide.flops.mac, 18289152);
  EXPECT_EQ(wide.valid_tap_mac_count, 18289152);
  EXPECT_EQ(wide.flop_count(), 38610432);

  EXPECT_EQ(2 * CostOfCase(Conv({1, 3, 32, 32}, {16, 3, 3, 3})).flops.mac, 777600);
  EXPECT_EQ(2 * CostOfCase(Conv({5, 1, 8, 8}, {2, 1, 3, 3})).flops.mac, 5 * 1296);
  EXPECT_EQ(2 * CostOfCase(Conv({5, 2, 6, 6}, {3, 2, 3, 3})).flops.mac, 5 * 1728);
}

TEST(ConvTest, ValidTapsOfAnAxisAreWhatAWalkFinds) {
  for (int64_t extent = 1; extent <= 7; ++extent) {
    for (int64_t kernel = 1; kernel <= 4; ++kernel) {
      for (int64_t code = 0; code < 36; ++code) {
        const ConvAxis axis{.positions = 1 + code % 6 + extent,
                            .extent = extent,
                            .kernel = kernel,
                            .stride = 1 + code % 3,
                            .dilation = 1 + code % 2,
                            .pad_begin = code / 6};
        int64_t walked = 0;
        for (int64_t place = 0; place < axis.positions; ++place) {
          for (int64_t tap = 0; tap < kernel; ++tap) {
            const int64_t element = axis.Element(place, tap);
            walked += element >= 0 && element < extent ? 1 : 0;
          }
        }
        EXPECT_EQ(axis.ValidTapCount(), walked);
      }
    }
  }
}

TEST(ConvTest, CountsWhatTheLoopExecutes) {
  for (const OpCase& op_case : PlanarCases()) {
    CheckCounts(op_case, ConvReference<Counted>, Executes::kValidTaps);
  }
  CheckCounts(Conv({1, 2, 5, 6, 7}, {3, 2, 3, 2, 3}, {{"pads", Ints{1, 0, 1, 1, 0, 1}}}),
              ConvReference<Counted>, Executes::kValidTaps);
}

std::vector<OpCase> TransposedCases() {
  return {
      ConvTranspose({1, 8, 8, 8}, {8, 4, 2, 2}, {{"strides", Ints{2, 2}}}),
      ConvTranspose({2, 3, 5, 6}, {3, 4, 3, 3}, {}, false),
      ConvTranspose(
          {1, 5, 7, 6}, {5, 3, 3, 4},
          {{"strides", Ints{2, 3}}, {"pads", Ints{1, 1, 0, 2}}, {"output_padding", Ints{1, 0}}}),
      ConvTranspose({2, 6, 5, 4}, {6, 2, 3, 3}, {{"group", int64_t{3}}, {"strides", Ints{2, 2}}}),
      ConvTranspose({1, 4, 6, 6}, {4, 5, 3, 3},
                    {{"dilations", Ints{2, 2}}, {"pads", Ints{1, 2, 3, 0}}}),
      ConvTranspose({1, 32, 20, 20}, {32, 70, 4, 4},
                    {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}),
      ConvTranspose({2, 4, 30}, {4, 3, 5}, {{"strides", Ints{3}}}),
      ConvTranspose({1, 2, 3, 4, 5}, {2, 3, 2, 3, 2}, {{"strides", Ints{1, 2, 2}}}),
  };
}

TEST(ConvTransposeTest, EveryKernelAgrees) {
  for (const OpCase& op_case : TransposedCases()) {
    SCOPED_TRACE(op_case.inputs[0].type.shape.ToString() + " with " +
                 op_case.inputs[1].type.shape.ToString());
    CheckOp(op_case);
    CheckCounts(op_case, ConvTransposeReference<Counted>, Executes::kValidTaps);
  }
}

TEST(ConvTransposeTest, SpreadsTheKernelByHand) {
  // [1 2] with kernel [10 1 100] and stride 2: 10 1 100+20 2 200.
  const OpCase op_case{
      .op_type = "ConvTranspose",
      .attributes = {{"strides", Ints{2}}},
      .inputs = {FloatsOf({1, 1, 2}, {1, 2}), FloatsOf({1, 1, 3}, {10, 1, 100}, true)},
      .dot_length = 2};
  EXPECT_EQ(TrueOutputs(op_case)[0], (std::vector<double>{10, 1, 120, 2, 200}));
}

TEST(ConvTransposeTest, ShapesAndCounts) {
  EXPECT_EQ(2 * CostOfCase(TransposedCases()[0]).flops.mac, 16384);
  ExpectShape(TransposedCases()[0], {1, 4, 16, 16});
  // (input - 1) * stride + output_padding + kernel - pads.
  ExpectShape(TransposedCases()[2], {1, 3, 6 * 2 + 1 + 3 - 1, 5 * 3 + 4 - 3});
  ExpectShape(ConvTranspose({1, 2, 5, 5}, {2, 3, 3, 3},
                            {{"strides", Ints{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}}),
              {1, 3, 10, 10});
  const OpCase sized = ConvTranspose({1, 2, 5, 5}, {2, 3, 3, 3},
                                     {{"strides", Ints{2, 2}}, {"output_shape", Ints{9, 10}}});
  ExpectShape(sized, {1, 3, 9, 10});
  CheckOp(sized);
}

TEST(ConvTransposeTest, RefusesWhatDoesNotFit) {
  ExpectRefused(ConvTranspose({1, 3, 8, 8}, {4, 2, 3, 3}), "SHAPE_MISMATCH");
  ExpectRefused(ConvTranspose({1, 3, 1, 1}, {3, 2, 3, 3}, {{"pads", Ints{2, 2, 2, 2}}}),
                "SHAPE_MISMATCH");
  ExpectRefused(ConvTranspose({1, 3, 8, 8}, {3, 2, 3, 3}, {{"output_shape", Ints{50, 50}}}),
                "SHAPE_MISMATCH");
  ExpectRefused(ConvTranspose({1, 3, 8, 8}, {3, 2, 3, 3}, {{"output_padding", Ints{1}}}),
                "BAD_ATTRIBUTE");
  ExpectRefused(ConvTranspose({1, 3, 8, 8}, {3, 2, 3, 3}, {{"output_padding", Ints{-1, 0}}}),
                "BAD_ATTRIBUTE");
}

}  // namespace
}  // namespace tinyprof
