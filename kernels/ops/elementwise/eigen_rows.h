// What the Eigen kernels of the element-wise operators share: runs of floats as Eigen arrays, and
// the refusal of other types.
#pragma once

#include <fmt/format.h>

#include <Eigen/Core>
#include <memory>

#include "kernels/ops/kernel.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

using FloatRow = Eigen::Map<Eigen::ArrayXf>;
using ConstFloatRow = Eigen::Map<const Eigen::ArrayXf>;

// UNIMPLEMENTED / "NO_KERNEL" unless the first output is float32 (the type rules tie the operands'
// types to it).
inline Status RequireFloat32(const NodeSignature& signature) {
  const DType dtype = signature.output().dtype;
  if (dtype == DType::kFloat32) return {};
  return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
              fmt::format("{} has no Eigen kernel for {}", signature.node->op_type, Name(dtype)));
}

// A factory of `KernelType`, which is made from the signature and the options.
template <class KernelType>
Result<std::unique_ptr<Kernel>> MakeFloatKernel(const NodeSignature& signature,
                                                const KernelOptions& options) {
  TINYPROF_RETURN_IF_ERROR(RequireFloat32(signature));
  return std::make_unique<KernelType>(signature, options);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
