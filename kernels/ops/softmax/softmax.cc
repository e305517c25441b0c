#include "kernels/ops/softmax/softmax.h"

#include <array>

#include "kernels/ops/checks.h"
#include "kernels/ops/families.h"
#include "kernels/ops/reference_kernel.h"
#include "kernels/ops/softmax/cost.h"
#include "kernels/ops/softmax/reference.h"

namespace tinyprof {
namespace {

Result<std::vector<TensorType>> InferSoftmax(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 1));
  TINYPROF_RETURN_IF_ERROR(
      NormalizeAxis(signature, signature.Int("axis", -1), signature.input(0).shape.rank()));
  return std::vector<TensorType>{signature.input(0)};
}

constexpr std::array kOperators = {
    Operator{"Softmax", 1, 1, &InferSoftmax, &SoftmaxCost,
             &MakeReferenceKernel<float, &SoftmaxReference<float>>,
             &MakeReferenceKernel<double, &SoftmaxReference<double>>},
    Operator{"LogSoftmax", 1, 1, &InferSoftmax, &LogSoftmaxCost,
             &MakeReferenceKernel<float, &LogSoftmaxReference<float>>,
             &MakeReferenceKernel<double, &LogSoftmaxReference<double>>},
};

}  // namespace

SoftmaxDims SoftmaxDimsOf(const NodeSignature& signature) {
  const Shape& shape = signature.input(0).shape;
  const int64_t given = signature.Int("axis", -1);
  const auto axis =
      static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(shape.rank()) : given);
  SoftmaxDims dims{.axis = shape[axis], .inner = shape.stride(axis)};
  for (size_t d = 0; d < axis; ++d) dims.outer *= shape[d];
  return dims;
}

std::span<const Operator> SoftmaxOperators() { return kOperators; }

}  // namespace tinyprof
