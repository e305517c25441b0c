// MaxPool, AveragePool and the global pools: types, costs and naive kernels.
#include <array>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/families.h"
#include "kernels/ops/pool/reference.h"

namespace tinyprof {
namespace {

template <PoolShapeFn shape_of>
Result<std::vector<TensorType>> Infer(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(PoolShape shape, shape_of(signature));
  return std::vector<TensorType>{{signature.input(0).dtype, std::move(shape.output)}};
}

// A window of k taps: k - 1 maxima.
template <PoolShapeFn shape_of>
Result<Cost> MaxCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const PoolShape shape, shape_of(signature));
  return PerElementCost({.minmax = shape.tap_count() - 1}, shape.output.element_count());
}

// A window of k taps: k - 1 adds and a division.
template <PoolShapeFn shape_of>
Result<Cost> AverageCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const PoolShape shape, shape_of(signature));
  return PerElementCost({.add_mul_div = 1, .reduction = shape.tap_count() - 1},
                        shape.output.element_count());
}

template <PoolShapeFn shape_of>
constexpr Operator MaxOperator(std::string_view type) {
  return {.type = type,
          .infer = Infer<shape_of>,
          .cost = MaxCost<shape_of>,
          .reference = MakeReferenceKernel<float, MaxPoolReference<float, shape_of>>,
          .reference_f64 = MakeReferenceKernel<double, MaxPoolReference<double, shape_of>>};
}

template <PoolShapeFn shape_of>
constexpr Operator AverageOperator(std::string_view type) {
  return {.type = type,
          .infer = Infer<shape_of>,
          .cost = AverageCost<shape_of>,
          .reference = MakeReferenceKernel<float, AveragePoolReference<float, shape_of>>,
          .reference_f64 = MakeReferenceKernel<double, AveragePoolReference<double, shape_of>>};
}

constexpr std::array kOperators = {
    MaxOperator<PoolShapeOf>("MaxPool"),
    AverageOperator<PoolShapeOf>("AveragePool"),
    MaxOperator<GlobalPoolShapeOf>("GlobalMaxPool"),
    AverageOperator<GlobalPoolShapeOf>("GlobalAveragePool"),
};

}  // namespace

std::span<const Operator> PoolOperators() { return kOperators; }

}  // namespace tinyprof
