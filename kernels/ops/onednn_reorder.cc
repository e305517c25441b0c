// Reorder on oneDNN, which alone knows the layouts.
#include <array>

#include "kernels/ops/onednn_families.h"
#include "kernels/ops/onednn_primitive.h"

namespace tinyprof {
namespace {

onednn::KernelResult Build(const NodeSignature& signature, const OnednnOptions& options) {
  const onednn::Dims& dims = signature.output().shape.dims();
  const DType dtype = signature.output().dtype;
  const onednn::Desc from = onednn::Arranged(dims, options.layouts.input(0), dtype);
  const onednn::Desc to = onednn::Arranged(dims, options.layouts.output(), dtype);
  const dnnl::reorder::primitive_desc description(onednn::Engine(), from, onednn::Engine(), to,
                                                  onednn::Attributes());
  return std::make_unique<onednn::PrimitiveKernel>(
      description, dnnl::reorder(description),
      std::vector{onednn::Input(DNNL_ARG_FROM, 0, from), onednn::Output(DNNL_ARG_TO, 0, to)},
      signature, options.threads);
}

constexpr std::array kKernels = {
    OnednnKernel{"Reorder", onednn::Make<Build, onednn::CheckAnyOperands>}};

}  // namespace

std::span<const OnednnKernel> ReorderOnednnKernels() { return kKernels; }

}  // namespace tinyprof
