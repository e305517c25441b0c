// Cost rules of the reductions over n elements, for each output: n-1 additions of class reduction
// (Max and Min: minmax), and 1 division for the mean, n multiplications and 1 square root for L2.
// ArgMax compares n-1 times. Folding integers costs no FLOPs.
#pragma once

#include "kernels/ops/op.h"

namespace tinyprof {

// The classes of each step of a fold.
struct FoldClasses {
  FlopClasses per_input;
  FlopClasses next;
  FlopClasses last;
};
Result<Cost> FoldCost(const NodeSignature& signature, const FoldClasses& classes);

template <class Fold>
Result<Cost> ReduceCost(const NodeSignature& signature) {
  return FoldCost(signature, FoldClasses{Fold::kPerInput, Fold::kNext, Fold::kLast});
}

Result<Cost> ArgMaxCost(const NodeSignature& signature);

}  // namespace tinyprof
