// Reductions over any set of axes (ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd,
// ReduceL2) and ArgMax over one.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/checks.h"
#include "kernels/ops/elementwise/broadcast.h"

namespace tinyprof {

// Output element i folds the input elements kept(i) + reduced(0), kept(i) + reduced(1), ...
struct ReducePlan {
  BroadcastPlan kept;     // over the output's elements
  BroadcastPlan reduced;  // over what is folded into one; its element count is n
};

// The axes to fold, from the attribute "axes" or input 1; all of them when neither is given (none
// with "noop_with_empty_axes"). ArgMax: its one axis.
Result<std::vector<size_t>> ReducedAxesOf(const NodeSignature& signature);
Result<ReducePlan> ReducePlanOf(const NodeSignature& signature);

}  // namespace tinyprof
