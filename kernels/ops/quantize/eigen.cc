// Operators on quantized numbers: which kernel is taken for which node.
#include <fmt/format.h>

#include <array>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/quantize/eigen_linear.h"
#include "kernels/ops/quantize/eigen_products.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

using MakeProductFn = Result<std::unique_ptr<Kernel>> (*)(const NodeSignature& signature,
                                                          const ProductRoles& roles, int threads);

template <MakeProductFn make, const ProductRoles& roles>
Result<std::unique_ptr<Kernel>> Make(const NodeSignature& signature, const KernelOptions& options) {
  return make(signature, roles, options.threads);
}

constexpr std::array kKernels = {
    EigenKernel{"QuantizeLinear", MakeQuantize},
    EigenKernel{"DequantizeLinear", MakeDequantize},
    EigenKernel{"DynamicQuantizeLinear", MakeDynamicQuantize},
    EigenKernel{"MatMulInteger", Make<MakeIntMatmul, kIntegerRoles>},
    EigenKernel{"QLinearMatMul", Make<MakeIntMatmul, kLinearRoles>},
    EigenKernel{"ConvInteger", Make<MakeIntConv, kIntegerRoles>},
    EigenKernel{"QLinearConv", Make<MakeIntConv, kLinearRoles>},
};

}  // namespace

Status CheckBytes(const NodeSignature& signature, const ProductRoles& roles) {
  for (const size_t index : {roles.x, roles.w}) {
    const DType dtype = signature.input(index).dtype;
    if (dtype == DType::kInt8 || dtype == DType::kUInt8) continue;
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                fmt::format("the product of 8-bit integers does not take {}", Name(dtype)));
  }
  return {};
}

std::span<const EigenKernel> QuantizeEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
