#include "kernels/ops/reduce/cost.h"

#include "kernels/ops/cost_math.h"
#include "kernels/ops/dtypes.h"

namespace tinyprof {
namespace {

// Elements that are joined to an earlier one: all inputs but the first of each output.
int64_t JoinCount(const NodeSignature& signature) {
  return signature.input(0).shape.element_count() - signature.output().shape.element_count();
}

}  // namespace

Result<Cost> FoldCost(const NodeSignature& signature, const FoldClasses& classes) {
  const int64_t inputs = signature.input(0).shape.element_count();
  if (!IsFloating(signature.input(0).dtype) || inputs == 0) return Cost{};
  TINYPROF_ASSIGN_OR_RETURN(Cost cost, PerElementCost(classes.per_input, inputs));
  TINYPROF_ASSIGN_OR_RETURN(const Cost next, PerElementCost(classes.next, JoinCount(signature)));
  TINYPROF_ASSIGN_OR_RETURN(const Cost last,
                            PerElementCost(classes.last, signature.output().shape.element_count()));
  cost += next;
  cost += last;
  return cost;
}

Result<Cost> ArgMaxCost(const NodeSignature& signature) {
  const int64_t inputs = signature.input(0).shape.element_count();
  return PerElementCost({.compare = 1}, inputs == 0 ? 0 : JoinCount(signature));
}

}  // namespace tinyprof
