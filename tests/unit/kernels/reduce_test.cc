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
      {"ReduceSum", &CountedReduce<FoldSum>},
      {"ReduceMean", &CountedReduce<FoldMean>},
      {"ReduceMax", &CountedReduce<FoldMax>},
      {"ReduceMin", &CountedReduce<FoldMin>},
      {"ReduceProd", &CountedReduce<FoldProduct>},
      {"ReduceL2", &CountedReduce<FoldL2>},
      {"ReduceL1", &CountedReduce<FoldL1>},
      {"ReduceSumSquare", &CountedReduce<FoldSumSquare>},
      {"ReduceLogSumExp", &CountedReduce<FoldLogSumExp>}};
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

TEST(Reduce, LogarithmsOfSums) {
  const OpCase::In x = FloatsOf({2, 2}, {1, 3, 2, 6});
  const OpCase log_sum{.op_type = "ReduceLogSum", .inputs = {x, IntsOf({1})}};
  CheckOp(log_sum);
  CheckCounts(log_sum, &CountedReduce<FoldLogSum>);
  EXPECT_THAT(TrueOutputs(log_sum)[0],
              ElementsAre(DoubleNear(std::log(4), 1e-12), DoubleNear(std::log(8), 1e-12)));
  // exp(1000) is no number; log(2 exp(1000)) is.
  const OpCase large{.op_type = "ReduceLogSumExp",
                     .inputs = {FloatsOf({1, 2}, {1000, 1000}), IntsOf({1})}};
  CheckOp(large);
  EXPECT_THAT(TrueOutputs(large)[0], ElementsAre(DoubleNear(1000 + std::log(2), 1e-9)));
}

OpCase AlongAxis(const std::string& type, std::vector<OpCase::In> inputs,
                 Attributes attributes = {}, size_t output_count = 1) {
  return {.op_type = type,
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .output_count = output_count,
          .has_eigen_kernel = false};
}

TEST(Reduce, CumSumGoesEitherWay) {
  const OpCase::In x = FloatsOf({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto sums = [&](Attributes attributes, int64_t axis = 1) {
    const OpCase op_case = AlongAxis("CumSum", {x, IntsOf({axis})}, std::move(attributes));
    CheckOp(op_case);
    return TrueOutputs(op_case)[0];
  };
  EXPECT_THAT(sums({}), ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_THAT(sums({}, 0), ElementsAre(1, 2, 3, 5, 7, 9));
  EXPECT_THAT(sums({{"exclusive", int64_t{1}}}), ElementsAre(0, 1, 3, 0, 4, 9));
  EXPECT_THAT(sums({{"reverse", int64_t{1}}}), ElementsAre(6, 5, 3, 15, 11, 6));
  EXPECT_EQ(CostOfCase(AlongAxis("CumSum", {x, IntsOf({1})})).flops, (FlopClasses{.reduction = 4}));
  CheckOp(AlongAxis("CumSum", {Activation({200, 300}), IntsOf({0})}));
}

TEST(Reduce, TopKAndExtremes) {
  const OpCase::In x = FloatsOf({2, 4}, {3, 1, 3, NAN, 0, -1, 7, 7});
  const auto top = [&](Attributes attributes) {
    const OpCase op_case = AlongAxis("TopK", {x, IntsOf({2})}, std::move(attributes), 2);
    CheckOp(op_case);
    return TrueOutputs(op_case)[1];
  };
  EXPECT_THAT(top({}), ElementsAre(3, 0, 2, 3));
  EXPECT_THAT(top({{"largest", int64_t{0}}}), ElementsAre(1, 0, 1, 0));
  EXPECT_EQ(RefusalOf(AlongAxis("TopK", {x, IntsOf({5})}, {}, 2)).reason, "SHAPE_MISMATCH");
  const OpCase least =
      AlongAxis("ArgMin", {FloatsOf({2, 3}, {2, 1, 1, 5, 6, 4})}, {{"axis", int64_t{1}}});
  CheckOp(least);
  EXPECT_THAT(TrueOutputs(least)[0], ElementsAre(1, 2));
  const OpCase hard = AlongAxis("Hardmax", {FloatsOf({2, 3}, {2, 5, 5, 0, -1, -2})});
  CheckOp(hard);
  EXPECT_THAT(TrueOutputs(hard)[0], ElementsAre(0, 1, 0, 1, 0, 0));
}

}  // namespace
}  // namespace tinyprof
