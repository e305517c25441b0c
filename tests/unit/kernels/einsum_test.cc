#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;

OpCase Einsum(const std::string& equation, std::vector<OpCase::In> inputs) {
  return {.op_type = "Einsum",
          .attributes = {{"equation", equation}},
          .inputs = std::move(inputs),
          .has_eigen_kernel = false};
}

const OpCase::In kTwoByThree = FloatsOf({2, 3}, {1, 2, 3, 4, 5, 6});
const OpCase::In kThree = FloatsOf({3}, {1, 10, 100});

std::vector<double> Result0(const OpCase& op_case) {
  CheckOp(op_case);
  return TrueOutputs(op_case)[0];
}

TEST(Einsum, SumsOverWhatTheOutputLeavesOut) {
  EXPECT_THAT(Result0(Einsum("ij->ji", {kTwoByThree})), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(Result0(Einsum("ij->i", {kTwoByThree})), ElementsAre(6, 15));
  EXPECT_THAT(Result0(Einsum("ij,j->i", {kTwoByThree, kThree})), ElementsAre(321, 654));
  EXPECT_THAT(Result0(Einsum("i , i", {kThree, kThree})), ElementsAre(10101));
  EXPECT_THAT(Result0(Einsum("ii->i", {FloatsOf({2, 2}, {1, 2, 3, 4})})), ElementsAre(1, 4));
  EXPECT_THAT(Result0(Einsum("...j,j->...", {kTwoByThree, kThree})), ElementsAre(321, 654));
  EXPECT_THAT(Result0(Einsum("i,j,k->", {kThree, kThree, kThree})), ElementsAre(111.0 * 111 * 111));
}

TEST(Einsum, TwoOperandsCostMultiplyAccumulates) {
  const OpCase op_case = Einsum("bij,bjk->bik", {Activation({2, 3, 4}), Activation({2, 4, 5})});
  EXPECT_EQ(CostOfCase(op_case).flops, (FlopClasses{.mac = 2 * 3 * 4 * 5}));
  EXPECT_EQ(CostOfCase(Einsum("ij->i", {Activation({2, 3})})).flops, (FlopClasses{.reduction = 4}));
}

TEST(Einsum, RefusalsSayWhatIsWrong) {
  for (const char* equation : {"ij->k", "ij->ii", "i->i", "ij,jk->ik", "i1->i", "i.j->ij"}) {
    EXPECT_EQ(RefusalOf(Einsum(equation, {kTwoByThree})).reason, "BAD_ATTRIBUTE") << equation;
  }
  EXPECT_EQ(RefusalOf(Einsum("ij,ij->ij", {Activation({2, 3}), Activation({2, 4})})).reason,
            "SHAPE_MISMATCH");
}

}  // namespace
}  // namespace tinyprof
