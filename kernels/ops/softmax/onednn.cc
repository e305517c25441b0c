// Softmax and LogSoftmax on oneDNN.
#include <array>

#include "kernels/ops/onednn_families.h"
#include "kernels/ops/onednn_primitive.h"
#include "kernels/ops/softmax/softmax.h"

namespace tinyprof {
namespace {

using onednn::KernelResult;

template <dnnl::algorithm algorithm>
KernelResult Build(const NodeSignature& signature, const OnednnOptions& options) {
  const SoftmaxDims dims = SoftmaxDimsOf(signature);
  const onednn::Desc data = dims.inner == 1 ? onednn::Plain({dims.outer, dims.axis})
                                            : onednn::Plain({dims.outer, dims.axis, dims.inner});
  const dnnl::softmax_v2_forward::primitive_desc description(
      {dnnl::prop_kind::forward_inference, algorithm, data, data, 1}, onednn::Attributes(),
      onednn::Engine());
  return std::make_unique<onednn::PrimitiveKernel>(
      description, dnnl::softmax_v2_forward(description),
      std::vector{onednn::Input(DNNL_ARG_SRC, 0, description.src_desc()),
                  onednn::Output(DNNL_ARG_DST, 0, description.dst_desc())},
      signature, options.threads);
}

constexpr std::array kKernels = {
    OnednnKernel{"Softmax", onednn::Make<Build<dnnl::algorithm::softmax_accurate>>},
    OnednnKernel{"LogSoftmax", onednn::Make<Build<dnnl::algorithm::softmax_log>>},
};

}  // namespace

std::span<const OnednnKernel> SoftmaxOnednnKernels() { return kKernels; }

}  // namespace tinyprof
