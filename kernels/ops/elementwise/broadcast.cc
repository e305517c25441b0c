#include "kernels/ops/elementwise/broadcast.h"

#include <algorithm>

#include "kernels/base/check.h"

namespace tinyprof {
namespace {

// Dimension `d` of the output, as `operand` walks it.
int64_t OperandStride(const Shape& output, const Shape& operand, size_t d) {
  const size_t from_end = output.rank() - 1 - d;
  if (from_end >= operand.rank()) return 0;
  const size_t own = operand.rank() - 1 - from_end;
  return operand[own] == 1 ? 0 : operand.stride(own);
}

// Merges dimension d into the one that `plan` ends with (outer to inner), if all operands allow it.
bool TryMerge(BroadcastPlan& plan, int64_t dim, const std::array<int64_t, kMaxOperands>& strides) {
  if (plan.rank == 0) return false;
  for (size_t k = 0; k < kMaxOperands; ++k) {
    if (plan.strides[k][plan.rank - 1] != strides[k] * dim) return false;
  }
  plan.dims[plan.rank - 1] *= dim;
  for (size_t k = 0; k < kMaxOperands; ++k) plan.strides[k][plan.rank - 1] = strides[k];
  return true;
}

}  // namespace

BroadcastPlan PlanBroadcast(const Shape& output, std::initializer_list<const Shape*> operands) {
  TINYPROF_CHECK(output.rank() <= kMaxRank && operands.size() <= kMaxOperands);
  BroadcastPlan plan;
  plan.rank = 0;
  plan.element_count = output.element_count();
  for (size_t d = 0; d < output.rank(); ++d) {
    if (output[d] == 1) continue;
    std::array<int64_t, kMaxOperands> strides{};
    size_t k = 0;
    for (const Shape* operand : operands) strides[k++] = OperandStride(output, *operand, d);
    if (TryMerge(plan, output[d], strides)) continue;
    plan.dims[plan.rank] = output[d];
    for (k = 0; k < kMaxOperands; ++k) plan.strides[k][plan.rank] = strides[k];
    ++plan.rank;
  }
  if (plan.rank == 0) {
    plan.rank = 1;
    plan.dims[0] = 1;
  }
  return plan;
}

}  // namespace tinyprof
