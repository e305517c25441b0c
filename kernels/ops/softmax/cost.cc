#include "kernels/ops/softmax/cost.h"

#include "kernels/ops/cost_math.h"
#include "kernels/ops/softmax/softmax.h"

namespace tinyprof {

Result<FlopClasses> SoftmaxClasses(int64_t n, int64_t rows) {
  if (n == 0) return FlopClasses{};
  TINYPROF_ASSIGN_OR_RETURN(const int64_t add_mul_div, CheckedMul(n, 2));
  return Scaled(
      {.add_mul_div = add_mul_div, .minmax = n - 1, .transcendental = n, .reduction = n - 1}, rows);
}

Result<Cost> SoftmaxCost(const NodeSignature& signature) {
  const SoftmaxDims dims = SoftmaxDimsOf(signature);
  TINYPROF_ASSIGN_OR_RETURN(const int64_t rows, CheckedMul(dims.outer, dims.inner));
  Cost cost;
  TINYPROF_ASSIGN_OR_RETURN(cost.flops, SoftmaxClasses(dims.axis, rows));
  return cost;
}

Result<Cost> LogSoftmaxCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(Cost cost, SoftmaxCost(signature));
  const SoftmaxDims dims = SoftmaxDimsOf(signature);
  if (dims.axis > 0) cost.flops.transcendental += dims.outer * dims.inner;
  return cost;
}

}  // namespace tinyprof
