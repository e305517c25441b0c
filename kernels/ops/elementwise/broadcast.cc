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

void AppendDimension(BroadcastPlan& plan, int64_t dim,
                     const std::array<int64_t, kMaxOperands>& strides) {
  if (dim == 1 || TryMerge(plan, dim, strides)) return;
  plan.dims[plan.rank] = dim;
  for (size_t k = 0; k < kMaxOperands; ++k) plan.strides[k][plan.rank] = strides[k];
  ++plan.rank;
}

// A single element is walked as one dimension of length 1.
BroadcastPlan Finished(BroadcastPlan plan) {
  if (plan.rank == 0) {
    plan.rank = 1;
    plan.dims[0] = 1;
  }
  return plan;
}

}  // namespace

BroadcastPlan PlanBroadcast(const Shape& output, std::initializer_list<const Shape*> operands) {
  TINYPROF_CHECK(output.rank() <= kMaxRank && operands.size() <= kMaxOperands);
  BroadcastPlan plan{.rank = 0, .element_count = output.element_count()};
  for (size_t d = 0; d < output.rank(); ++d) {
    std::array<int64_t, kMaxOperands> strides{};
    size_t k = 0;
    for (const Shape* operand : operands) strides[k++] = OperandStride(output, *operand, d);
    AppendDimension(plan, output[d], strides);
  }
  return Finished(plan);
}

BroadcastPlan PlanStrided(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  TINYPROF_CHECK(dims.size() <= kMaxRank && dims.size() == strides.size());
  BroadcastPlan plan{.rank = 0, .element_count = 1};
  for (size_t d = 0; d < dims.size(); ++d) {
    plan.element_count *= dims[d];
    AppendDimension(plan, dims[d], {strides[d]});
  }
  return Finished(plan);
}

}  // namespace tinyprof
