#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/base/check.h"
#include "kernels/ops/reduce/reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Fold>
void CountedReduce(const NodeSignature& signature, const KernelArgs& args) {
  const Result<ReducePlan> plan = ReducePlanOf(signature);
  TINYPROF_CHECK(plan.has_value());
  ReduceLoop<Counted, Fold>(*plan, args.In<Counted>(0), args.Out<Counted>());
}

OpCase Reduce(const std::string& type, const Shape& shape, std::vector<int64_t> axes,
              int64_t keepdims = 1) {
  return {.op_type = type,
          .attributes = {{"axes", std::move(axes)}, {"keepdims", keepdims}},
          .inputs = {Activation(shape)}};
}

TEST(Reduce, EveryFoldAgreesOverAnyAxes) {
  const std::vector<std::pair<std::string, ReferenceFn>> folds = {
      {"ReduceSum", &CountedReduce<FoldSum>},      {"ReduceMean", &CountedReduce<FoldMean>},
      {"ReduceMax", &CountedReduce<FoldMax>},      {"ReduceMin", &CountedReduce<FoldMin>},
      {"ReduceProd", &CountedReduce<FoldProduct>}, {"ReduceL2", &CountedReduce<FoldL2>}};
  const std::vector<std::pair<Shape, std::vector<int64_t>>> cases = {{{7}, {0}},
                                                                     {{3, 17}, {1}},
                                                                     {{3, 17}, {0}},
                                                                     {{3, 17}, {}},
                                                                     {{2, 3, 7, 5}, {2, 3}},
                                                                     {{2, 3, 7, 5}, {1, 3}},
                                                                     {{2, 3, 7, 5}, {0, 2}},
                                                                     {{37, 64}, {-1}},
                                                                     {{100, 1, 64}, {0}},
                                                                     {{1, 1}, {0, 1}},
                                                                     {{0, 3}, {1}},
                                                                     {{2, 200, 70}, {1}},
                                                                     {{3, 5, 1}, {2}}};
  for (const auto& [type, counted] : folds) {
    for (const auto& [shape, axes] : cases) {
      for (const int64_t keepdims : {0, 1}) {
        SCOPED_TRACE(shape.ToString());
        OpCase op_case = Reduce(type, shape, axes, keepdims);
        op_case.tolerance = 1e-4;
        CheckOp(op_case);
        CheckCounts(op_case, counted);
      }
    }
  }
}

TEST(Reduce, CostsByClass) {
  const auto classes = [](const std::string& type) {
    return CostOfCase(Reduce(type, {4, 100}, {1})).flops;
  };
  EXPECT_EQ(classes("ReduceSum"), (FlopClasses{.reduction = 4 * 99}));
  EXPECT_EQ(classes("ReduceMean"), (FlopClasses{.add_mul_div = 4, .reduction = 4 * 99}));
  EXPECT_EQ(classes("ReduceMax"), (FlopClasses{.minmax = 4 * 99}));
  EXPECT_EQ(classes("ReduceL2"), (FlopClasses{.add_mul_div = 4 * 101, .reduction = 4 * 99}));
}

TEST(Reduce, ValuesAndShapesByHand) {
  const OpCase::In x = FloatsOf({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto truth = [&](const std::string& type, std::vector<int64_t> axes) {
    return TrueOutputs({.op_type = type, .inputs = {x, IntsOf(axes)}})[0];
  };
  EXPECT_THAT(truth("ReduceSum", {1}), ElementsAre(6, 15));
  EXPECT_THAT(truth("ReduceMean", {0}), ElementsAre(2.5, 3.5, 4.5));
  EXPECT_THAT(truth("ReduceProd", {0, 1}), ElementsAre(720));
  EXPECT_THAT(truth("ReduceMax", {}), ElementsAre(6));
  EXPECT_THAT(truth("ReduceMin", {-1}), ElementsAre(1, 4));
  EXPECT_THAT(TrueOutputs({.op_type = "ReduceL2", .inputs = {FloatsOf({2}, {3, 4})}})[0],
              ElementsAre(5));
  EXPECT_EQ(InferCase(Reduce("ReduceSum", {2, 3, 4}, {0, 2}, 0))->at(0).shape, Shape{3});
  EXPECT_EQ(InferCase(Reduce("ReduceSum", {2, 3, 4}, {0, 2}, 1))->at(0).shape, (Shape{1, 3, 1}));
}

TEST(Reduce, NoAxesMeansAllOrNone) {
  OpCase op_case = Reduce("ReduceSum", {2, 3}, {}, 0);
  EXPECT_EQ(InferCase(op_case)->at(0).shape, Shape{});
  op_case.attributes["noop_with_empty_axes"] = int64_t{1};
  EXPECT_EQ(InferCase(op_case)->at(0).shape, (Shape{2, 3}));
  CheckOp(op_case);
  CheckCounts(op_case, &CountedReduce<FoldSum>);
}

TEST(Reduce, IntegersCostNoFlops) {
  const OpCase op_case{.op_type = "ReduceProd", .inputs = {IntsOf({2, 3, 7})}};
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAre(42));
  EXPECT_EQ(CostOfCase(op_case).flop_count(), 0);
}

TEST(Reduce, ArgMaxFindsTheFirstOrTheLast) {
  const OpCase::In x = FloatsOf({2, 4}, {1, 9, 9, 2, -5, -7, -5, -6});
  const auto truth = [&](Attributes attributes) {
    const OpCase op_case{.op_type = "ArgMax",
                         .attributes = std::move(attributes),
                         .inputs = {x},
                         .has_eigen_kernel = false};
    CheckOp(op_case);
    return TrueOutputs(op_case)[0];
  };
  EXPECT_THAT(truth({{"axis", int64_t{1}}}), ElementsAre(1, 0));
  EXPECT_THAT(truth({{"axis", int64_t{-1}}, {"select_last_index", int64_t{1}}}), ElementsAre(2, 2));
  EXPECT_THAT(truth({{"axis", int64_t{0}}, {"keepdims", int64_t{0}}}), ElementsAre(0, 0, 0, 0));
  CheckOp({.op_type = "ArgMax",
           .attributes = {{"axis", int64_t{1}}},
           .inputs = {Activation({17, 37, 64})},
           .has_eigen_kernel = false});
}

TEST(Reduce, RefusesBadAxes) {
  EXPECT_EQ(RefusalOf(Reduce("ReduceSum", {2, 3}, {2})).reason, "BAD_AXIS");
  EXPECT_THAT(RefusalOf(Reduce("ReduceSum", {2, 3}, {1, -1})).message, HasSubstr("named twice"));
  EXPECT_EQ(RefusalOf(Reduce("ReduceMax", {2, 0}, {1})).reason, "SHAPE_MISMATCH");
  const OpCase unknown{.op_type = "ReduceSum",
                       .inputs = {Activation({2}), {.type = {DType::kInt64, {1}}, .fill = {}}}};
  EXPECT_EQ(RefusalOf(unknown).reason, "SHAPE_NOT_KNOWN");
}

}  // namespace
}  // namespace tinyprof
