// MaxPool, AveragePool and the global pools: types, costs and naive kernels.
#include <array>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/families.h"
#include "kernels/ops/pool/reference.h"
#include "kernels/ops/pool/unpool.h"

namespace tinyprof {
namespace {

template <PoolShapeFn shape_of>
Result<std::vector<TensorType>> Infer(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_ASSIGN_OR_RETURN(PoolShape shape, shape_of(signature));
  return std::vector<TensorType>{{signature.input(0).dtype, std::move(shape.output)}};
}

// The second output holds the indices of the maxima. Numbers of 8 bits are pooled too.
Result<std::vector<TensorType>> InferMaxPool(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 2));
  const DType dtype = signature.input(0).dtype;
  if (dtype != DType::kInt8 && dtype != DType::kUInt8) {
    TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  }
  TINYPROF_ASSIGN_OR_RETURN(PoolShape shape, PoolShapeOf(signature));
  std::vector<TensorType> types{{dtype, shape.output}};
  if (output_count == 2) types.push_back({DType::kInt64, std::move(shape.output)});
  return types;
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

using InferFn = Result<std::vector<TensorType>> (*)(const NodeSignature& signature,
                                                    size_t output_count);

template <PoolShapeFn shape_of>
constexpr Operator MaxOperator(std::string_view type, InferFn infer) {
  return {.type = type,
          .infer = infer,
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
    MaxOperator<PoolShapeOf>("MaxPool", InferMaxPool),
    AverageOperator<PoolShapeOf>("AveragePool"),
    MaxOperator<GlobalPoolShapeOf>("GlobalMaxPool", Infer<GlobalPoolShapeOf>),
    AverageOperator<GlobalPoolShapeOf>("GlobalAveragePool"),
    Operator{.type = "MaxUnpool",
             .min_inputs = 2,
             .max_inputs = 3,
             .infer = InferMaxUnpool,
             .cost = MaxUnpoolCost,
             .reference = MakeMaxUnpoolKernel,
             .reference_f64 = MakeMaxUnpoolKernel},
};

}  // namespace

std::span<const Operator> PoolOperators() { return kOperators; }

}  // namespace tinyprof
