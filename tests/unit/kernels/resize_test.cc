#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/base/check.h"
#include "kernels/ops/resize/grid_sample.h"
#include "kernels/ops/resize/passes.h"
#include "kernels/ops/resize/roi_align.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

void CountedResize(const NodeSignature& signature, const KernelArgs& args) {
  const Result<ResizePlan> plan = ResizePlanOf(signature);
  TINYPROF_CHECK(plan.has_value());
  std::vector<Counted> between(static_cast<size_t>(2 * plan->between_count()));
  RunPasses(*plan, args.In<Counted>(0), args.Out<Counted>(), between.data(),
            [](const ResizePass& pass, const Counted* from, Counted* to) {
              RunRows(pass, from, to, 0, pass.row_count());
            });
}

OpCase Resize(OpCase::In data, const std::vector<float>& scales, Attributes attributes) {
  const auto count = static_cast<int64_t>(scales.size());
  return {.op_type = "Resize",
          .attributes = std::move(attributes),
          .inputs = {std::move(data), Omitted(), FloatsOf({count}, scales, true)}};
}

Attributes Modes(const std::string& mode, const std::string& transformation = "half_pixel") {
  return {{"mode", mode}, {"coordinate_transformation_mode", transformation}};
}

TEST(Resize, KernelsAgreeAndCostWhatTheyExecute) {
  for (const std::string mode : {"linear", "cubic"}) {
    for (const std::vector<float>& scales :
         {std::vector<float>{1, 1, 2, 2}, {1, 1, 0.6F, 1.7F}, {1, 1, 1, 1}, {1, 1, 1, 3}}) {
      const OpCase op_case = Resize(Activation({2, 3, 5, 7}), scales, Modes(mode));
      CheckOp(op_case);
      CheckCounts(op_case, &CountedResize);
    }
  }
}

// Both ways of a pass, along the rows and across them, by several threads.
TEST(Resize, LargeImagesAgree) {
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    CheckOp(Resize(Activation({1, 3, 61, 83}), {1, 1, 2.5F, 3}, Modes(mode)));
    CheckOp(Resize(Activation({40, 70}), {7, 9}, Modes(mode, "align_corners")));
  }
  OpCase crop{.op_type = "Resize",
              .attributes = Modes("linear", "tf_crop_and_resize"),
              .inputs = {Activation({70, 90}), FloatsOf({4}, {-0.2F, 0.1F, 0.9F, 1.3F}, true),
                         Omitted(), IntsOf({150, 160})}};
  crop.attributes["extrapolation_value"] = 7.0F;
  CheckOp(crop);
  crop.attributes["mode"] = std::string("nearest");
  CheckOp(crop);
}

TEST(Resize, CostOfALinearPassIsThreeForEachOutput) {
  const Cost cost = CostOfCase(Resize(Activation({1, 1, 4, 4}), {1, 1, 2, 2}, Modes("linear")));
  // Rows first: 8 x 4 outputs, then 8 x 8.
  EXPECT_EQ(cost.flops, (FlopClasses{.add_mul_div = 3 * (32 + 64)}));
  EXPECT_EQ(
      CostOfCase(Resize(Activation({1, 1, 4, 4}), {1, 1, 2, 2}, Modes("nearest"))).flop_count(), 0);
}

TEST(Resize, NearestByHand) {
  const OpCase op_case =
      Resize(FloatsOf({1, 1, 2, 2}, {1, 2, 3, 4}), {1, 1, 1, 2}, Modes("nearest", "asymmetric"));
  CheckOp(op_case);
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
}

TEST(Resize, LinearByHand) {
  // Places -0.25, 0.25, 0.75, 1.25 of [1, 2], the edges repeated.
  const OpCase half = Resize(FloatsOf({2}, {1, 2}), {2}, Modes("linear"));
  EXPECT_THAT(TrueOutputs(half)[0],
              Pointwise(testing::DoubleEq(), std::vector<double>{1, 1.25, 1.75, 2}));
  const OpCase corners = Resize(FloatsOf({2}, {1, 4}), {2}, Modes("linear", "align_corners"));
  EXPECT_THAT(TrueOutputs(corners)[0], ElementsAre(DoubleNear(1, 1e-12), DoubleNear(2, 1e-12),
                                                   DoubleNear(3, 1e-12), DoubleNear(4, 1e-12)));
}

TEST(Resize, RefusalsSayWhatIsWrong) {
  EXPECT_EQ(RefusalOf(Resize(Activation({1, 1}), {2, 2}, Modes("quintic"))).reason,
            "BAD_ATTRIBUTE");
  EXPECT_EQ(RefusalOf(Resize(Activation({1, 1}), {2}, Modes("linear"))).reason, "SHAPE_MISMATCH");
  EXPECT_EQ(RefusalOf(Resize(Activation({1, 1}), {2, -1}, Modes("linear"))).reason,
            "SHAPE_MISMATCH");
  EXPECT_EQ(RefusalOf(Resize(Activation({1, 1}), {2, 1e30F}, Modes("linear"))).reason,
            "SHAPE_MISMATCH");
  OpCase crop{.op_type = "Resize",
              .attributes = Modes("linear", "tf_crop_and_resize"),
              .inputs = {Activation({3}), FloatsOf({2}, {NAN, 1}, true), Omitted(), IntsOf({4})}};
  EXPECT_EQ(RefusalOf(crop).reason, "SHAPE_MISMATCH");
}

OpCase GridSample(const std::string& mode, const std::string& padding) {
  return {.op_type = "GridSample",
          .attributes = {{"mode", mode}, {"padding_mode", padding}},
          .inputs = {Activation({2, 3, 5, 7}), Activation({2, 4, 6, 2}, 1.5)}};
}

TEST(GridSample, KernelsAgreeAndCostWhatTheyExecute) {
  for (const std::string mode : {"nearest", "bilinear", "bicubic"}) {
    for (const std::string padding : {"zeros", "border", "reflection"}) {
      CheckOp(GridSample(mode, padding));
      CheckCounts(GridSample(mode, padding), &GridSampleReference<Counted>);
    }
  }
  EXPECT_EQ(RefusalOf(GridSample("linear-ish", "zeros")).reason, "BAD_ATTRIBUTE");
  EXPECT_EQ(RefusalOf(GridSample("nearest", "edge")).reason, "BAD_ATTRIBUTE");
}

TEST(GridSample, LargeGridsAgree) {
  OpCase op_case = GridSample("bilinear", "zeros");
  op_case.inputs = {Activation({2, 5, 30, 40}), Activation({2, 61, 67, 2}, 1.2)};
  CheckOp(op_case);
  op_case.attributes["mode"] = std::string("bicubic");
  op_case.tolerance = 1e-4;
  CheckOp(op_case);
}

// What is outside counts 0, also where the image has no numbers.
TEST(GridSample, NothingIsTakenFromOutside) {
  const OpCase op_case{
      .op_type = "GridSample",
      .inputs = {FloatsOf({1, 1, 1, 2}, {INFINITY, 1}), FloatsOf({1, 1, 2, 2}, {9, 9, 1.2F, 0})}};
  CheckOp(op_case);
  EXPECT_EQ(TrueOutputs(op_case)[0][0], 0);
}

TEST(GridSample, PlacesByHand) {
  // The middle of a 2 x 2 image, its first pixel's middle, and a place outside.
  const OpCase op_case{.op_type = "GridSample",
                       .inputs = {FloatsOf({1, 1, 2, 2}, {1, 2, 3, 4}),
                                  FloatsOf({1, 1, 3, 2}, {0, 0, -0.5F, -0.5F, 9, NAN})}};
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAre(2.5, 1, 0));
}

OpCase RoiAlign(OpCase::In images, OpCase::In rois, const std::vector<int64_t>& images_of_rois,
                Attributes attributes) {
  return {.op_type = "RoiAlign",
          .attributes = std::move(attributes),
          .inputs = {std::move(images), std::move(rois), IntsOf(images_of_rois)},
          .has_eigen_kernel = false};
}

TEST(RoiAlign, AgreesAndCostsWhatItExecutes) {
  for (const std::string mode : {"avg", "max"}) {
    for (const std::string transformation : {"half_pixel", "output_half_pixel"}) {
      const OpCase op_case =
          RoiAlign(Activation({2, 3, 9, 7}),
                   FloatsOf({3, 4}, {0, 0, 5, 8, -3, 2, 40, 3, 2, 2, 2, 2}), {0, 1, 1},
                   {{"mode", mode},
                    {"coordinate_transformation_mode", transformation},
                    {"output_height", int64_t{3}},
                    {"output_width", int64_t{2}},
                    {"sampling_ratio", int64_t{2}},
                    {"spatial_scale", 0.5F}});
      CheckOp(op_case);
      CheckCounts(op_case, &RoiAlignReference<Counted>);
    }
  }
}

TEST(RoiAlign, ByHand) {
  // The one sample of each bin lies in the middle of 4 pixels of x + 10 y, then on a pixel.
  const OpCase::In image = FloatsOf({1, 1, 3, 3}, {0, 1, 2, 10, 11, 12, 20, 21, 22});
  const Attributes one = {{"sampling_ratio", int64_t{1}}};
  EXPECT_THAT(TrueOutputs(RoiAlign(image, FloatsOf({1, 4}, {0, 0, 2, 2}), {0}, one))[0],
              ElementsAre(5.5));
  EXPECT_THAT(TrueOutputs(RoiAlign(image, FloatsOf({1, 4}, {1, 1, 2, 2}), {0}, one))[0],
              ElementsAre(11));
  // Without half pixels the place is (1, 1), and a rectangle of no size is a pixel wide.
  Attributes corners = one;
  corners["coordinate_transformation_mode"] = std::string("output_half_pixel");
  EXPECT_THAT(TrueOutputs(RoiAlign(image, FloatsOf({1, 4}, {0, 0, 2, 2}), {0}, corners))[0],
              ElementsAre(11));
  EXPECT_THAT(TrueOutputs(RoiAlign(image, FloatsOf({1, 4}, {1, 1, 1, 1}), {0}, corners))[0],
              ElementsAre(16.5));
  // Far outside it is 0.
  EXPECT_THAT(TrueOutputs(RoiAlign(image, FloatsOf({1, 4}, {9, 9, 9, NAN}), {0}, one))[0],
              ElementsAre(0));
}

OpCase AdaptiveRois(const std::vector<float>& rois, Attributes attributes) {
  const auto count = static_cast<int64_t>(rois.size() / 4);
  return RoiAlign(Activation({1, 2, 9, 7}), FloatsOf({count, 4}, rois, true),
                  std::vector<int64_t>(static_cast<size_t>(count), 0), std::move(attributes));
}

TEST(RoiAlign, SamplesByTheSizeOfItsRectangles) {
  for (const std::string mode : {"avg", "max"}) {
    for (const std::string transformation : {"half_pixel", "output_half_pixel"}) {
      const OpCase op_case =
          AdaptiveRois({0, 0, 5, 8, -3, 2, 40, 3, 2, 2, 2, 2, 5, 6, 1, 1, 0, 0, NAN, 4},
                       {{"mode", mode},
                        {"coordinate_transformation_mode", transformation},
                        {"output_height", int64_t{3}},
                        {"output_width", int64_t{2}}});
      CheckOp(op_case);
      CheckCounts(op_case, &RoiAlignReference<Counted>);
    }
  }
}

TEST(RoiAlign, AdaptiveSamplesByHand) {
  // The 3 x 2 samples of a bin of 3 x 2 pixels are the pixels of x + 10 y: rows 0 to 2, columns 0
  // and 1.
  const OpCase::In image = FloatsOf({1, 1, 3, 3}, {0, 1, 2, 10, 11, 12, 20, 21, 22});
  OpCase op_case = RoiAlign(image, FloatsOf({1, 4}, {0, 0, 2, 3}, true), {0}, {});
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAre(DoubleNear(10.5, 1e-12)));
  EXPECT_EQ(CostOfCase(op_case).flops, (FlopClasses{.mac = 4 * 3 * 2, .add_mul_div = 1}));
  op_case.attributes["mode"] = std::string("max");
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAre(21));
  EXPECT_EQ(CostOfCase(op_case).flops, (FlopClasses{.add_mul_div = 4 * 6, .minmax = 4 * 6 - 1}));
  // Two bins of 2.5 pixels take ceil(2.5) = 3 samples across; one pixel down takes one.
  const OpCase two = AdaptiveRois({0, 0, 5, 1}, {{"output_width", int64_t{2}}});
  EXPECT_EQ(CostOfCase(two).flops.mac, 2 * 2 * 4 * 3);
  // A rectangle of no size has no samples: 0.
  const OpCase none = AdaptiveRois({2, 2, 2, 2}, {});
  EXPECT_THAT(TrueOutputs(none)[0], ElementsAre(0, 0));
  EXPECT_EQ(CostOfCase(none).flops, (FlopClasses{.add_mul_div = 2}));
}

TEST(RoiAlign, AdaptiveSamplesAreKnownAndLimited) {
  EXPECT_EQ(RefusalOf(AdaptiveRois({0, 0, 1e9F, 1}, {})).reason, "MODEL_TOO_LARGE");
  EXPECT_EQ(RefusalOf(AdaptiveRois({0, 0, 1, INFINITY}, {})).reason, "MODEL_TOO_LARGE");
  EXPECT_EQ(RefusalOf(AdaptiveRois({0, 0, 1, 1}, {{"sampling_ratio", int64_t{-1}}})).reason,
            "BAD_ATTRIBUTE");
}

TEST(RoiAlign, RefusalsSayWhatIsWrong) {
  const OpCase::In images = Activation({1, 1, 3, 3});
  const OpCase::In roi = FloatsOf({1, 4}, {0, 0, 2, 2});
  EXPECT_EQ(RefusalOf(RoiAlign(images, roi, {0}, {})).reason, "ATTRIBUTE_NOT_SUPPORTED");
  const Attributes one = {{"sampling_ratio", int64_t{1}}};
  EXPECT_EQ(RefusalOf(RoiAlign(images, roi, {1}, one)).reason, "SHAPE_MISMATCH");
  EXPECT_EQ(RefusalOf(RoiAlign(images, roi, {0, 0}, one)).reason, "SHAPE_MISMATCH");
}

}  // namespace
}  // namespace tinyprof
