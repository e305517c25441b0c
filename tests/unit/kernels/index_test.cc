#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// int64 of any shape; `known` makes them known before the run.
OpCase::In Indices(Shape shape, const std::vector<int64_t>& elements, bool known = false) {
  return {.type = {DType::kInt64, std::move(shape)},
          .fill = Fill::Int64s(elements),
          .is_weight = known};
}

OpCase::In KnownBools(const std::vector<uint8_t>& elements) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (const uint8_t element : elements) bytes->push_back(std::byte{element});
  return {.type = {DType::kBool, Shape{static_cast<int64_t>(elements.size())}},
          .fill = {.kind = Fill::Kind::kData, .data = std::move(bytes)},
          .is_weight = true};
}

OpCase Chooser(const std::string& type, std::vector<OpCase::In> inputs, Attributes attributes = {},
               size_t output_count = 1) {
  return {.op_type = type,
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .output_count = output_count,
          .has_eigen_kernel = false};
}

// Checks the kernels, and that the first output holds `wanted`.
void Expect(const OpCase& op_case, const std::vector<double>& wanted) {
  CheckOp(op_case);
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAreArray(wanted)) << op_case.op_type;
}

const OpCase::In kTwoByThree = FloatsOf({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Index, GathersElementsAndSlices) {
  Expect(Chooser("GatherElements", {kTwoByThree, Indices({2, 2}, {0, 2, -1, 1})},
                 {{"axis", int64_t{1}}}),
         {1, 3, 6, 5});
  Expect(Chooser("GatherElements", {kTwoByThree, Indices({1, 3}, {1, 0, 1})}), {4, 2, 6});
  Expect(Chooser("GatherND", {kTwoByThree, Indices({2, 2}, {0, 0, 1, -1})}), {1, 6});
  Expect(Chooser("GatherND", {kTwoByThree, Indices({1, 1}, {1})}), {4, 5, 6});
  Expect(Chooser("GatherND", {kTwoByThree, Indices({2, 1}, {2, 0})}, {{"batch_dims", int64_t{1}}}),
         {3, 4});
}

TEST(Index, IndicesOutOfRangeStayInTheTensor) {
  Expect(Chooser("GatherElements", {kTwoByThree, Indices({1, 3}, {1000, -1000, INT64_MIN})}),
         {4, 2, 3});
  Expect(Chooser("GatherND", {kTwoByThree, Indices({1, 2}, {99, 99})}), {6});
  Expect(Chooser("ScatterND", {kTwoByThree, Indices({1, 1}, {-99}), FloatsOf({1, 3}, {7, 8, 9})}),
         {7, 8, 9, 4, 5, 6});
}

TEST(Index, KnownIndicesOutOfRangeAreRefused) {
  const OpCase::In row = FloatsOf({1, 3}, {7, 8, 9});
  const OpCase::In one = FloatsOf({1, 1}, {7});
  const auto refusal = [](const OpCase& op_case) {
    const Error error = RefusalOf(op_case);
    EXPECT_EQ(error.reason, "SHAPE_MISMATCH") << op_case.op_type;
    return error.message;
  };
  for (const int64_t index : {int64_t{2}, int64_t{-3}, INT64_MIN, INT64_MAX}) {
    const OpCase::In known = Indices({1, 1}, {index}, true);
    const std::string out = "index " + std::to_string(index);
    EXPECT_THAT(refusal(Chooser("GatherElements", {kTwoByThree, known})), HasSubstr(out));
    EXPECT_THAT(refusal(Chooser("GatherND", {kTwoByThree, known})), HasSubstr(out));
    EXPECT_THAT(refusal(Chooser("ScatterElements", {kTwoByThree, known, one})), HasSubstr(out));
    EXPECT_THAT(refusal(Chooser("ScatterND", {kTwoByThree, known, row})), HasSubstr(out));
  }
  // The second index of a tuple is held against the second dimension.
  Expect(Chooser("GatherND", {kTwoByThree, Indices({1, 2}, {1, 2}, true)}), {6});
  EXPECT_THAT(refusal(Chooser("GatherND", {kTwoByThree, Indices({1, 2}, {2, 1}, true)})),
              HasSubstr("index 2"));
}

TEST(Index, ScattersInOrderAndByReduction) {
  const std::vector<OpCase::In> inputs = {kTwoByThree, Indices({2, 1}, {2, 2}),
                                          FloatsOf({2, 1}, {10, 20})};
  const auto scatter = [&](const std::string& reduction) {
    return Chooser("ScatterElements", inputs, {{"axis", int64_t{1}}, {"reduction", reduction}});
  };
  Expect(scatter("none"), {1, 2, 10, 4, 5, 20});
  Expect(scatter("add"), {1, 2, 13, 4, 5, 26});
  Expect(scatter("mul"), {1, 2, 30, 4, 5, 120});
  EXPECT_EQ(CostOfCase(scatter("none")).flop_count(), 0);
  EXPECT_EQ(CostOfCase(scatter("add")).flops, (FlopClasses{.add_mul_div = 2}));
  EXPECT_EQ(CostOfCase(scatter("max")).flops, (FlopClasses{.minmax = 2}));
  EXPECT_EQ(RefusalOf(scatter("xor")).reason, "BAD_ATTRIBUTE");
  Expect(Chooser("ScatterND", {kTwoByThree, Indices({2, 2}, {0, 1, 0, 1}), FloatsOf({2}, {7, 8})},
                 {{"reduction", std::string("add")}}),
         {1, 17, 3, 4, 5, 6});
}

TEST(Index, OutputsThatDependOnKnownData) {
  Expect(Chooser("Compress", {kTwoByThree, KnownBools({1, 0, 1})}, {{"axis", int64_t{1}}}),
         {1, 3, 4, 6});
  Expect(Chooser("Compress", {kTwoByThree, KnownBools({0, 1, 0, 0, 1})}), {2, 5});
  const OpCase::In known = FloatsOf({2, 3}, {0, 2, 0, 4, 0, 6}, true);
  EXPECT_THAT(TrueOutputs(Chooser("NonZero", {known}))[0], ElementsAre(0, 1, 1, 1, 0, 2));
  const auto unique = TrueOutputs(
      Chooser("Unique", {FloatsOf({6}, {2, 1, 1, 3, 4, 3}, true)}, {{"sorted", int64_t{0}}}, 4));
  EXPECT_THAT(unique[0], ElementsAre(2, 1, 3, 4));
  EXPECT_THAT(unique[1], ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(unique[2], ElementsAre(0, 1, 1, 2, 3, 2));
  EXPECT_THAT(unique[3], ElementsAre(1, 2, 2, 1));
  const auto rows = TrueOutputs(
      Chooser("Unique", {FloatsOf({3, 2}, {1, 0, 1, 0, 0, 5}, true)}, {{"axis", int64_t{0}}}, 1));
  EXPECT_THAT(rows[0], ElementsAre(0, 5, 1, 0));
  EXPECT_EQ(RefusalOf(Chooser("NonZero", {Activation({3})})).reason, "SHAPE_NOT_KNOWN");
}

TEST(Index, MakesTensorsFromNumbers) {
  const OpCase::In depth = Indices({}, {4}, true);
  Expect(Chooser("OneHot", {Indices({3}, {0, -1, 9}), depth, FloatsOf({2}, {-1, 5})}),
         {5, -1, -1, -1, -1, -1, -1, 5, -1, -1, -1, -1});
  Expect(Chooser("OneHot", {Indices({2}, {1, 3}), depth, FloatsOf({2}, {0, 1})},
                 {{"axis", int64_t{0}}}),
         {0, 0, 1, 0, 0, 0, 0, 1});
  const auto number = [](float value) { return FloatsOf({}, {value}, true); };
  Expect(Chooser("Range", {number(1), number(2), number(0.25F)}), {1, 1.25, 1.5, 1.75});
  EXPECT_EQ(CostOfCase(Chooser("Range", {number(0), number(10), number(1)})).flop_count(), 20);
  Expect(Chooser("EyeLike", {Activation({2, 3})}, {{"k", int64_t{1}}}), {0, 1, 0, 0, 0, 1});
  EXPECT_THAT(RefusalOf(Chooser("Range", {number(1), number(2), number(0)})).message,
              HasSubstr("no end"));
}

TEST(Index, TrianglesAndReversals) {
  Expect(Chooser("Trilu", {kTwoByThree}), {1, 2, 3, 0, 5, 6});
  Expect(Chooser("Trilu", {kTwoByThree, Indices({}, {-1})}, {{"upper", int64_t{0}}}),
         {0, 0, 0, 4, 0, 0});
  Expect(Chooser("Trilu", {kTwoByThree, Indices({}, {INT64_MAX})}), {0, 0, 0, 0, 0, 0});
  Expect(Chooser("ReverseSequence", {kTwoByThree, Indices({3}, {2, 1, 0})}), {4, 2, 3, 1, 5, 6});
  Expect(Chooser("ReverseSequence", {kTwoByThree, Indices({2}, {3, 2})},
                 {{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}}),
         {3, 2, 1, 5, 4, 6});
}

TEST(Index, NonMaxSuppressionDropsWhatOverlapsABetterBox) {
  const OpCase::In boxes = FloatsOf({1, 3, 4}, {0, 0, 1, 1, 0, 0.1F, 1, 1.1F, 0, 10, 1, 11}, true);
  const OpCase::In scores = FloatsOf({1, 1, 3}, {0.9F, 0.75F, 0.6F}, true);
  const OpCase op_case = Chooser(
      "NonMaxSuppression", {boxes, scores, Indices({}, {3}, true), FloatsOf({}, {0.5F}, true)});
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAre(0, 0, 0, 0, 0, 2));
}

}  // namespace
}  // namespace tinyprof
