#include "kernels/ops/elementwise/cost.h"

#include "kernels/ops/dtypes.h"
#include "kernels/ops/elementwise/reference.h"

namespace tinyprof {

Result<Cost> ElementwiseCost(const NodeSignature& signature, const FlopClasses& per_element) {
  if (!IsFloating(signature.output().dtype)) return Cost{};
  return PerElementCost(per_element, signature.output().shape.element_count());
}

Result<Cost> FoldCost(const NodeSignature& signature, const FlopClasses& per_step) {
  const auto steps = static_cast<int64_t>(signature.inputs.size()) - 1;
  TINYPROF_ASSIGN_OR_RETURN(const FlopClasses per_element, Scaled(per_step, steps));
  return ElementwiseCost(signature, per_element);
}

Result<Cost> CompareCost(const NodeSignature& signature) {
  return PerElementCost({.compare = 1}, signature.output().shape.element_count());
}

Result<Cost> MeanCost(const NodeSignature& signature) {
  const auto operands = static_cast<int64_t>(signature.inputs.size());
  return ElementwiseCost(signature, {.add_mul_div = operands});
}

Result<Cost> GeluCost(const NodeSignature& signature) {
  return ElementwiseCost(signature,
                         UsesTanh(signature) ? GeluTanh::kPerElement : GeluErf::kPerElement);
}

Result<Cost> ClipCost(const NodeSignature& signature) {
  const bool has_min = signature.has_input(1) || signature.has_attribute("min");
  const bool has_max = signature.has_input(2) || signature.has_attribute("max");
  return ElementwiseCost(signature, {.minmax = int64_t{has_min} + int64_t{has_max}});
}

}  // namespace tinyprof
