#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/ops/einsum/reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;

void CountedEinsum(const NodeSignature& signature, const KernelArgs& args) {
  RunEinsum<Counted>(*EinsumPlanOf(signature), args);
}

OpCase Einsum(const std::string& equation, std::vector<OpCase::In> inputs,
              bool has_eigen_kernel = true) {
  return {.op_type = "Einsum",
          .attributes = {{"equation", equation}},
          .inputs = std::move(inputs),
          .has_eigen_kernel = has_eigen_kernel};
}

const OpCase::In kTwoByThree = FloatsOf({2, 3}, {1, 2, 3, 4, 5, 6});
const OpCase::In kThree = FloatsOf({3}, {1, 10, 100});

std::vector<double> Result0(const OpCase& op_case) {
  CheckOp(op_case);
  return TrueOutputs(op_case)[0];
}

TEST(Einsum, SumsOverWhatTheOutputLeavesOut) {
  EXPECT_THAT(Result0(Einsum("ij->ji", {kTwoByThree}, false)), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(Result0(Einsum("ij->i", {kTwoByThree}, false)), ElementsAre(6, 15));
  EXPECT_THAT(Result0(Einsum("ij,j->i", {kTwoByThree, kThree})), ElementsAre(321, 654));
  EXPECT_THAT(Result0(Einsum("i , i", {kThree, kThree})), ElementsAre(10101));
  EXPECT_THAT(Result0(Einsum("ii->i", {FloatsOf({2, 2}, {1, 2, 3, 4})}, false)), ElementsAre(1, 4));
  EXPECT_THAT(Result0(Einsum("...j,j->...", {kTwoByThree, kThree})), ElementsAre(321, 654));
  EXPECT_THAT(Result0(Einsum("i,j,k->", {kThree, kThree, kThree}, false)),
              ElementsAre(111.0 * 111 * 111));
}

// Batches, transposed operands and results, diagonals, ellipses, and a letter of one operand.
TEST(Einsum, ContractionsAgreeAndCostWhatTheyExecute) {
  struct Equation {
    std::string text;
    Shape a;
    Shape b;
    bool has_eigen_kernel = true;
  };
  for (const Equation& equation :
       {Equation{"bij,bjk->bik", {3, 17, 33}, {3, 33, 9}},
        Equation{"bhid,bhjd->bhij", {2, 3, 20, 16}, {2, 3, 24, 16}},
        Equation{"bihd,bjhd->bhij", {2, 20, 3, 16}, {2, 24, 3, 16}},
        Equation{"ij,kj->ki", {40, 50}, {60, 50}}, Equation{"ji,jk->ik", {50, 40}, {50, 60}},
        Equation{"i,j->ij", {30}, {40}}, Equation{"ij,ij->i", {30, 40}, {30, 40}},
        Equation{"ij,ij->ij", {30, 40}, {30, 40}}, Equation{"iij,jk->ik", {9, 9, 8}, {8, 7}},
        Equation{"...ij,...jk->...ik", {5, 1, 7, 8}, {4, 8, 9}},
        Equation{"ij,k->ik", {6, 7}, {8}, false}}) {
    SCOPED_TRACE(equation.text);
    OpCase op_case = Einsum(equation.text, {Activation(equation.a), Activation(equation.b)},
                            equation.has_eigen_kernel);
    op_case.dot_length = 64;
    CheckOp(op_case);
    CheckCounts(op_case, &CountedEinsum);
  }
  CheckCounts(Einsum("ij->i", {Activation({5, 6})}, false), &CountedEinsum);
  CheckCounts(Einsum("i,i,i->", {Activation({5}), Activation({5}), Activation({5})}, false),
              &CountedEinsum);
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
