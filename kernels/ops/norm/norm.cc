#include "kernels/ops/norm/norm.h"

#include <fmt/format.h>

#include <array>

#include "kernels/ops/checks.h"
#include "kernels/ops/families.h"
#include "kernels/ops/norm/channel_norm.h"
#include "kernels/ops/norm/cost.h"
#include "kernels/ops/norm/reference.h"
#include "kernels/ops/reference_kernel.h"

namespace tinyprof {
namespace {

using Types = std::vector<TensorType>;

size_t LayerNormAxis(const NodeSignature& signature) {
  const auto rank = static_cast<int64_t>(signature.input(0).shape.rank());
  const int64_t axis = signature.Int("axis", -1);
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

Result<Types> InferBatchNorm(const NodeSignature& signature, size_t output_count) {
  if (signature.Int("training_mode", 0) != 0) {
    return Fail(ErrorCode::kUnimplemented, "TRAINING_NOT_SUPPORTED",
                "BatchNormalization in training mode is not supported: export the model for "
                "inference");
  }
  if (signature.Int("spatial", 1) == 0) {
    return Fail(ErrorCode::kUnimplemented, "ATTRIBUTE_NOT_SUPPORTED",
                "BatchNormalization with spatial 0, statistics of each element, is not supported");
  }
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 1));
  const Shape per_channel{BatchNormDimsOf(signature).channels};
  constexpr std::array<std::string_view, 5> kNames = {"data", "scale", "bias", "mean", "variance"};
  for (size_t i = 1; i < kNames.size(); ++i) {
    TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, i, kNames[i], per_channel));
  }
  return Types{signature.input(0)};
}

// Shape of the mean and the inverse deviation: the normalized dimensions become 1.
TensorType StatisticType(const NodeSignature& signature, size_t axis) {
  std::vector<int64_t> dims = signature.input(0).shape.dims();
  for (size_t d = axis; d < dims.size(); ++d) dims[d] = 1;
  return {signature.input(0).dtype, Shape(std::move(dims))};
}

Result<Types> InferLayerNorm(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 3));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 1));
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const size_t axis,
                            NormalizeAxis(signature, signature.Int("axis", -1), shape.rank()));
  const Shape normalized(std::vector<int64_t>(
      shape.dims().begin() + static_cast<std::ptrdiff_t>(axis), shape.dims().end()));
  TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 1, "scale", normalized));
  TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 2, "bias", normalized));
  if (normalized.element_count() == 0) {
    return ShapeMismatch(signature, "the normalized dimensions hold no elements");
  }
  Types types{signature.input(0)};
  while (types.size() < output_count) types.push_back(StatisticType(signature, axis));
  return types;
}

constexpr std::array kOperators = {
    Operator{"BatchNormalization", 5, 5, &InferBatchNorm, &BatchNormCost,
             &MakeReferenceKernel<float, &BatchNormReference<float>>,
             &MakeReferenceKernel<double, &BatchNormReference<double>>},
    Operator{"LayerNormalization", 2, 3, &InferLayerNorm, &LayerNormCost,
             &MakeReferenceKernel<float, &LayerNormReference<float>>,
             &MakeReferenceKernel<double, &LayerNormReference<double>>},
    Operator{"InstanceNormalization", 3, 3, &InferInstanceNorm, &InstanceNormCost,
             &MakeReferenceKernel<float, &InstanceNormReference<float>>,
             &MakeReferenceKernel<double, &InstanceNormReference<double>>},
    Operator{"LRN", 1, 1, &InferLrn, &LrnCost, &MakeReferenceKernel<float, &LrnReference<float>>,
             &MakeReferenceKernel<double, &LrnReference<double>>},
};

}  // namespace

BatchNormDims BatchNormDimsOf(const NodeSignature& signature) {
  const Shape& shape = signature.input(0).shape;
  BatchNormDims dims;
  if (shape.rank() == 1) {
    dims.batch = shape[0];
    return dims;
  }
  dims.batch = shape[0];
  dims.channels = shape[1];
  dims.inner = shape.stride(1);
  return dims;
}

LayerNormDims LayerNormDimsOf(const NodeSignature& signature) {
  const Shape& shape = signature.input(0).shape;
  const size_t axis = LayerNormAxis(signature);
  LayerNormDims dims;
  for (size_t d = 0; d < shape.rank(); ++d) (d < axis ? dims.rows : dims.width) *= shape[d];
  return dims;
}

std::span<const Operator> NormOperators() { return kOperators; }

}  // namespace tinyprof
