#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

OpCase Mover(const std::string& type, std::vector<OpCase::In> inputs, Attributes attributes = {},
             size_t output_count = 1) {
  return {.op_type = type,
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .output_count = output_count,
          .has_eigen_kernel = false};
}

// Runs the operator everywhere and gives its shape; the elements are TrueOutputs()'.
Shape CheckedShape(const OpCase& op_case) {
  CheckOp(op_case);
  EXPECT_EQ(CostOfCase(op_case).flop_count(), 0);
  return InferCase(op_case)->at(0).shape;
}

// 0, 1, 2, ... in that shape.
OpCase::In Counting(const Shape& shape) {
  std::vector<float> elements(static_cast<size_t>(shape.element_count()));
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i);
  return FloatsOf(shape, elements);
}

TEST(ShapeOps, ReshapeResolvesZeroAndMinusOne) {
  const auto shape = [](const Shape& from, std::vector<int64_t> to, int64_t allowzero = 0) {
    return CheckedShape(
        Mover("Reshape", {Activation(from), IntsOf(to)}, {{"allowzero", allowzero}}));
  };
  EXPECT_EQ(shape({2, 3, 4}, {6, 4}), (Shape{6, 4}));
  EXPECT_EQ(shape({2, 3, 4}, {0, -1}), (Shape{2, 12}));
  EXPECT_EQ(shape({2, 3, 4}, {-1}), Shape{24});
  EXPECT_EQ(shape({1}, {}), Shape{});
  EXPECT_EQ(shape({0, 3}, {3, 0}, 1), (Shape{3, 0}));
}

TEST(ShapeOps, FlattenSqueezeAndUnsqueeze) {
  const OpCase::In x = Activation({2, 1, 3, 1});
  const auto axes = [](std::vector<int64_t> list) { return Attributes{{"axes", std::move(list)}}; };
  EXPECT_EQ(CheckedShape(Mover("Flatten", {x})), (Shape{2, 3}));
  EXPECT_EQ(CheckedShape(Mover("Flatten", {x}, {{"axis", int64_t{0}}})), (Shape{1, 6}));
  EXPECT_EQ(CheckedShape(Mover("Flatten", {x}, {{"axis", int64_t{-1}}})), (Shape{6, 1}));
  EXPECT_EQ(CheckedShape(Mover("Flatten", {x}, {{"axis", int64_t{4}}})), (Shape{6, 1}));
  EXPECT_EQ(CheckedShape(Mover("Squeeze", {x})), (Shape{2, 3}));
  EXPECT_EQ(CheckedShape(Mover("Squeeze", {x, IntsOf({-1})})), (Shape{2, 1, 3}));
  EXPECT_EQ(CheckedShape(Mover("Unsqueeze", {Activation({3, 4})}, axes({0, -1}))),
            (Shape{1, 3, 4, 1}));
}

TEST(ShapeOps, TransposeByHandAndOnAnyPermutation) {
  const auto perm = [](std::vector<int64_t> list) { return Attributes{{"perm", std::move(list)}}; };
  EXPECT_THAT(TrueOutputs(Mover("Transpose", {Counting({2, 3})}))[0],
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(TrueOutputs(Mover("Transpose", {Counting({2, 2, 2})}, perm({1, 0, 2})))[0],
              ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
  EXPECT_EQ(CheckedShape(Mover("Transpose", {Activation({2, 17, 3, 64})}, perm({0, 2, 1, 3}))),
            (Shape{2, 3, 17, 64}));
  EXPECT_EQ(CheckedShape(Mover("Transpose", {Activation({3, 7, 37})})), (Shape{37, 7, 3}));
  EXPECT_EQ(CheckedShape(Mover("Transpose", {Activation({100, 0, 7})})), (Shape{7, 0, 100}));
  EXPECT_EQ(CheckedShape(Mover("Transpose", {Activation({300, 200})})), (Shape{200, 300}));
}

TEST(ShapeOps, ExpandAndTileRepeat) {
  EXPECT_THAT(TrueOutputs(Mover("Expand", {Counting({2, 1}), IntsOf({3})}))[0],
              ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_EQ(CheckedShape(Mover("Expand", {Activation({3, 1}), IntsOf({2, 1, 7})})),
            (Shape{2, 3, 7}));
  EXPECT_THAT(TrueOutputs(Mover("Tile", {Counting({2, 2}), IntsOf({2, 2})}))[0],
              ElementsAre(0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3));
  EXPECT_EQ(CheckedShape(Mover("Tile", {Activation({7, 3}), IntsOf({1, 17})})), (Shape{7, 51}));
  EXPECT_EQ(CheckedShape(Mover("Tile", {Activation({7, 3}), IntsOf({0, 2})})), (Shape{0, 6}));
}

TEST(ShapeOps, SliceStepsBothWays) {
  const auto slice = [](std::vector<int64_t> start, std::vector<int64_t> end,
                        std::vector<int64_t> axes, std::vector<int64_t> step) {
    const OpCase op_case =
        Mover("Slice", {Counting({7}), IntsOf(start), IntsOf(end), IntsOf(axes), IntsOf(step)});
    CheckOp(op_case);
    return TrueOutputs(op_case)[0];
  };
  EXPECT_THAT(slice({1}, {4}, {0}, {1}), ElementsAre(1, 2, 3));
  EXPECT_THAT(slice({-3}, {INT64_MAX}, {0}, {1}), ElementsAre(4, 5, 6));
  EXPECT_THAT(slice({0}, {7}, {0}, {3}), ElementsAre(0, 3, 6));
  EXPECT_THAT(slice({-1}, {INT64_MIN}, {-1}, {-2}), ElementsAre(6, 4, 2, 0));
  EXPECT_THAT(slice({5}, {2}, {0}, {-1}), ElementsAre(5, 4, 3));
  EXPECT_THAT(slice({5}, {2}, {0}, {1}), ElementsAre());
  EXPECT_THAT(slice({100}, {-100}, {0}, {INT64_MIN}), ElementsAre(6));
  const OpCase op_case =
      Mover("Slice", {Activation({17, 37, 3}), IntsOf({2, 1}), IntsOf({9, 3}), IntsOf({1, 2})});
  EXPECT_EQ(CheckedShape(op_case), (Shape{17, 7, 2}));
  EXPECT_EQ(CostOfCase(op_case).input_bytes, 17 * 7 * 2 * 4);
}

TEST(ShapeOps, ConcatAndSplitAreInverse) {
  EXPECT_THAT(
      TrueOutputs(Mover("Concat", {Counting({2, 1}), Counting({2, 2})}, {{"axis", int64_t{1}}}))[0],
      ElementsAre(0, 0, 1, 1, 2, 3));
  EXPECT_EQ(
      CheckedShape(Mover("Concat", {Activation({3, 7}), Activation({3, 0}), Activation({3, 1})},
                         {{"axis", int64_t{-1}}})),
      (Shape{3, 8}));
  EXPECT_EQ(CheckedShape(Mover("Concat", {Activation({64, 100}), Activation({37, 100})},
                               {{"axis", int64_t{0}}})),
            (Shape{101, 100}));
  EXPECT_THAT(
      TrueOutputs(Mover("Split", {Counting({2, 3}), IntsOf({1, 2})}, {{"axis", int64_t{1}}}, 2)),
      ElementsAre(ElementsAre(0, 3), ElementsAre(1, 2, 4, 5)));
  CheckOp(Mover("Split", {Activation({17, 63})}, {{"axis", int64_t{-1}}}, 3));
  const auto uneven =
      InferCase(Mover("Split", {Activation({7})}, {{"num_outputs", int64_t{3}}}, 3));
  EXPECT_EQ(uneven->at(0).shape, Shape{3});
  EXPECT_EQ(uneven->at(2).shape, Shape{1});
}

TEST(ShapeOps, PadInEveryMode) {
  const auto pad = [](const std::string& mode, std::vector<int64_t> pads) {
    const OpCase op_case =
        Mover("Pad", {FloatsOf({3}, {1, 2, 3}), IntsOf(pads), FloatsOf({}, {9})}, {{"mode", mode}});
    CheckOp(op_case);
    return TrueOutputs(op_case)[0];
  };
  EXPECT_THAT(pad("constant", {1, 2}), ElementsAre(9, 1, 2, 3, 9, 9));
  EXPECT_THAT(pad("constant", {-1, 1}), ElementsAre(2, 3, 9));
  EXPECT_THAT(pad("edge", {2, 1}), ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(pad("reflect", {2, 2}), ElementsAre(3, 2, 1, 2, 3, 2, 1));
  for (const std::string mode : {"constant", "edge", "reflect"}) {
    EXPECT_EQ(CheckedShape(Mover("Pad", {Activation({2, 17, 37}), IntsOf({0, 3, 1, 0, 1, 7})},
                                 {{"mode", mode}})),
              (Shape{2, 21, 45}));
  }
  EXPECT_EQ(
      CheckedShape(Mover("Pad", {Activation({3, 64}), IntsOf({1, 1}), Omitted(), IntsOf({-1})})),
      (Shape{3, 66}));
}

TEST(ShapeOps, ShapeAndConstantOfShape) {
  EXPECT_THAT(TrueOutputs(Mover("Shape", {Activation({3, 0, 7})}))[0], ElementsAre(3, 0, 7));
  EXPECT_THAT(TrueOutputs(Mover("Shape", {Activation({3, 5, 7})},
                                {{"start", int64_t{-2}}, {"end", int64_t{9}}}))[0],
              ElementsAre(5, 7));
  EXPECT_EQ(CostOfCase(Mover("Shape", {Activation({1000})})).input_bytes, 0);
  EXPECT_THAT(TrueOutputs(Mover("ConstantOfShape", {IntsOf({2})}, {{"value", 1.5F}}))[0],
              ElementsAre(1.5, 1.5));
  const OpCase integers = Mover("ConstantOfShape", {IntsOf({2, 1})}, {{"value", int64_t{7}}});
  EXPECT_EQ(InferCase(integers)->at(0).dtype, DType::kInt64);
  EXPECT_THAT(TrueOutputs(integers)[0], ElementsAre(7, 7));
}

TEST(ShapeOps, MoveEveryElementType) {
  for (const DType dtype : {DType::kInt8, DType::kInt32, DType::kInt64, DType::kBool}) {
    const OpCase::In x{.type = {dtype, {3, 7}}, .fill = Fill::Integers(2, 3)};
    CheckOp(Mover("Transpose", {x}));
    CheckOp(Mover("Concat", {x, x}, {{"axis", int64_t{0}}}));
    CheckOp(Mover("Tile", {x, IntsOf({2, 1})}));
  }
}

TEST(ShapeOps, RefusalsSayWhatIsWrong) {
  const OpCase::In x = Activation({2, 3});
  const OpCase::In unknown{.type = {DType::kInt64, {2}}, .fill = Fill::Integers(3, 1)};
  const std::vector<std::pair<OpCase, std::string>> refusals = {
      {Mover("Reshape", {x, unknown}), "needs its target shape (input 1) before the run"},
      {Mover("Reshape", {x, IntsOf({4, 2})}), "2x3 with 6 elements cannot become [4, 2]"},
      {Mover("Reshape", {x, IntsOf({4, -1})}), "cannot become [4, -1]"},
      {Mover("Reshape", {x, IntsOf({-1, -1})}), "more than one unknown"},
      {Mover("Reshape", {x, IntsOf({1, 1, 0})}), "target dimension 2 is 0"},
      {Mover("Reshape", {x, IntsOf({INT64_MAX, INT64_MAX})}), "larger than 2^63"},
      {Mover("Flatten", {x}, {{"axis", int64_t{3}}}), "axis 3"},
      {Mover("Squeeze", {x, IntsOf({1})}), "has length 3, wanted 1"},
      {Mover("Unsqueeze", {x, IntsOf({0, 0})}), "named twice"},
      {Mover("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 0}}}), "no permutation"},
      {Mover("Expand", {x, IntsOf({2, 4})}), "cannot be broadcast"},
      {Mover("Expand", {x, IntsOf({-1, 3})}), "negative dimension"},
      {Mover("Slice", {x, IntsOf({0}), IntsOf({1}), IntsOf({0}), IntsOf({0})}), "step is 0"},
      {Mover("Slice", {x, IntsOf({0, 0}), IntsOf({1})}), "2 starts, 1 ends"},
      {Mover("Concat", {x, Activation({3, 3})}, {{"axis", int64_t{1}}}), "wanted 2x3 but for"},
      {Mover("Concat", {x, x}), "axis is missing"},
      {Mover("Split", {x}, {{"axis", int64_t{1}}}, 2), "length 3 cannot be split into 2"},
      {Mover("Split", {x, IntsOf({1, 1})}, {{"axis", int64_t{1}}}, 2), "does not cut"},
      {Mover("Tile", {x, IntsOf({2})}), "1 repeats"},
      {Mover("Tile", {x, IntsOf({INT64_MAX, 2})}), "larger than 2^63"},
      {Mover("Pad", {x, IntsOf({1, 1})}), "2 pads were given for 2 axes"},
      {Mover("Pad", {x, IntsOf({0, 3, 0, 0})}, {{"mode", std::string("reflect")}}),
       "3 elements cannot be padded by 3"},
      {Mover("Pad", {x, IntsOf({0, -9, 0, 0})}), "negative dimension"},
      {Mover("ConstantOfShape", {unknown}), "before the run"},
  };
  for (const auto& [op_case, message] : refusals) {
    EXPECT_THAT(RefusalOf(op_case).message, HasSubstr(message));
  }
}

TEST(ShapeOps, DepthBecomesSpaceAndBack) {
  // The example of ONNX's documentation: 4 channels of 1 x 2 become one of 2 x 4.
  const OpCase::In depth = FloatsOf({1, 4, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto moved = [](const std::string& type, const OpCase::In& in, Attributes attributes) {
    attributes["blocksize"] = int64_t{2};
    const OpCase op_case = Mover(type, {in}, std::move(attributes));
    CheckOp(op_case);
    return TrueOutputs(op_case)[0];
  };
  EXPECT_THAT(moved("DepthToSpace", depth, {}), ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  EXPECT_THAT(moved("DepthToSpace", depth, {{"mode", std::string("CRD")}}),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  const OpCase::In space = FloatsOf({1, 1, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7});
  EXPECT_THAT(moved("SpaceToDepth", space, {}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const OpCase two = Mover("DepthToSpace", {FloatsOf({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7})},
                           {{"blocksize", int64_t{2}}});
  EXPECT_THAT(TrueOutputs(two)[0], ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_EQ(
      RefusalOf(Mover("DepthToSpace", {Activation({1, 3, 1, 1})}, {{"blocksize", int64_t{2}}}))
          .reason,
      "SHAPE_MISMATCH");
  EXPECT_EQ(RefusalOf(Mover("SpaceToDepth", {Activation({1, 3, 4, 4})}, {})).reason,
            "BAD_ATTRIBUTE");
}

}  // namespace
}  // namespace tinyprof
