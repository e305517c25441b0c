#include "kernels/ops/norm/channel_norm.h"

#include <fmt/format.h>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"

namespace tinyprof {

namespace {
using Types = std::vector<TensorType>;
}  // namespace

Result<Types> InferInstanceNorm(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 3));
  const Shape per_channel{signature.input(0).shape[1]};
  TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 1, "scale", per_channel));
  TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 2, "bias", per_channel));
  return Types{signature.input(0)};
}

Result<Cost> InstanceNormCost(const NodeSignature& signature) {
  const BatchNormDims dims = BatchNormDimsOf(signature);
  if (dims.inner == 0) return Cost{};
  TINYPROF_ASSIGN_OR_RETURN(const int64_t elements, CheckedMul(4, dims.inner));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t add_mul_div, CheckedAdd(elements, 5));
  return PerElementCost({.add_mul_div = add_mul_div, .reduction = 2 * (dims.inner - 1)},
                        dims.batch * dims.channels);
}

Result<Types> InferLrn(const NodeSignature& signature, size_t output_count) {
  constexpr int64_t kMaxSize = 1 << 20;
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 2));
  const int64_t size = signature.Int("size", 0);
  if (size < 1 || size > kMaxSize) {
    return BadAttribute(signature, fmt::format("size is {}, wanted 1 to {}", size, kMaxSize));
  }
  return Types{signature.input(0)};
}

Result<Cost> LrnCost(const NodeSignature& signature) {
  const BatchNormDims dims = BatchNormDimsOf(signature);
  const int64_t size = signature.Int("size", 1);
  // A window of `reach` channels to one side is cut at the edge by reach, reach - 1, ... of them.
  const auto cut_off = [&](int64_t reach) {
    const int64_t cut = std::min(reach, dims.channels);
    return cut * reach - cut * (cut - 1) / 2;
  };
  TINYPROF_ASSIGN_OR_RETURN(const int64_t whole, CheckedMul(dims.channels, size));
  const int64_t squares = whole - cut_off((size - 1) / 2) - cut_off(size / 2);
  const FlopClasses classes{.add_mul_div = squares + 3 * dims.channels,
                            .transcendental = dims.channels,
                            .reduction = squares - dims.channels};
  return PerElementCost(classes, dims.batch * dims.inner);
}

}  // namespace tinyprof
