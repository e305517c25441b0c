// Cost rules of the element-wise operators: operations per output element, times elements.
// Arithmetic on integers costs no FLOPs.
#pragma once

#include "kernels/ops/cost_math.h"
#include "kernels/ops/elementwise/unary_functors.h"
#include "kernels/ops/op.h"

namespace tinyprof {

// `per_element` for each element of the output, or nothing when the output holds integers.
Result<Cost> ElementwiseCost(const NodeSignature& signature, const FlopClasses& per_element);

template <class Op>
Result<Cost> UnaryCost(const NodeSignature& signature) {
  return ElementwiseCost(signature, Op::kPerElement);
}

// Folding k operands runs the operation k - 1 times.
Result<Cost> FoldCost(const NodeSignature& signature, const FlopClasses& per_step);

template <class Op>
Result<Cost> BinaryCost(const NodeSignature& signature) {
  return FoldCost(signature, Op::kPerElement);
}

Result<Cost> CompareCost(const NodeSignature& signature);
Result<Cost> MeanCost(const NodeSignature& signature);
Result<Cost> GeluCost(const NodeSignature& signature);
Result<Cost> ClipCost(const NodeSignature& signature);

}  // namespace tinyprof
