// Conv and ConvTranspose on Eigen: which way is taken for which node.
#include <array>

#include "kernels/ops/conv/eigen_conv.h"
#include "kernels/ops/eigen_families.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

Status CheckFloat32(const NodeSignature& signature) {
  if (signature.output().dtype == DType::kFloat32) return {};
  return Fail(ErrorCode::kUnimplemented, "NO_KERNEL", "the Eigen convolution is for float32 only");
}

Result<std::unique_ptr<Kernel>> MakeConv(const NodeSignature& signature,
                                         const KernelOptions& options) {
  TINYPROF_RETURN_IF_ERROR(CheckFloat32(signature));
  TINYPROF_ASSIGN_OR_RETURN(const ConvShape shape, ConvShapeOf(signature));
  const Epilogue epilogue(signature);
  const auto* weights = static_cast<const float*>(signature.inputs[1].data);
  if (shape.in_group() == 1 && shape.groups > 1) {
    return MakeConvDepthwise(shape, epilogue, options.threads);
  }
  if (IsImplicitConvWorthwhile(shape)) {
    return MakeConvImplicit(shape, weights, epilogue, options.threads);
  }
  return MakeConvGemm(shape, weights, epilogue, options.threads);
}

Result<std::unique_ptr<Kernel>> MakeConvTranspose(const NodeSignature& signature,
                                                  const KernelOptions& options) {
  TINYPROF_RETURN_IF_ERROR(CheckFloat32(signature));
  TINYPROF_ASSIGN_OR_RETURN(const ConvShape shape, ConvTransposeShapeOf(signature));
  return MakeConvTransposed(shape, Epilogue(signature), options.threads);
}

constexpr std::array kKernels = {EigenKernel{"Conv", MakeConv, true},
                                 EigenKernel{"ConvTranspose", MakeConvTranspose, true}};

}  // namespace

std::span<const EigenKernel> ConvEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
