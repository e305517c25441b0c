#include "kernels/ops/norm/cost.h"

#include "kernels/ops/cost_math.h"
#include "kernels/ops/norm/norm.h"

namespace tinyprof {

Result<Cost> BatchNormCost(const NodeSignature& signature) {
  return PerElementCost({.add_mul_div = 2}, signature.output().shape.element_count());
}

Result<Cost> LayerNormCost(const NodeSignature& signature) {
  const LayerNormDims dims = LayerNormDimsOf(signature);
  // Per element: subtract the mean, square, normalize, scale; per row: mean, variance, epsilon,
  // square root, reciprocal.
  const int64_t per_element = signature.has_input(2) ? 5 : 4;
  TINYPROF_ASSIGN_OR_RETURN(const int64_t elements, CheckedMul(per_element, dims.width));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t add_mul_div, CheckedAdd(elements, 5));
  return PerElementCost({.add_mul_div = add_mul_div, .reduction = 2 * (dims.width - 1)}, dims.rows);
}

}  // namespace tinyprof
