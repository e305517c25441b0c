// The normalizations on oneDNN.
#include <array>

#include "kernels/ops/norm/norm.h"
#include "kernels/ops/onednn_families.h"
#include "kernels/ops/onednn_primitive.h"

namespace tinyprof {
namespace {

using onednn::Desc;
using onednn::KernelResult;

constexpr auto kInference = dnnl::prop_kind::forward_inference;

KernelResult BuildBatchNorm(const NodeSignature& signature, const OnednnOptions& options) {
  if (signature.input(0).shape.rank() < 2) {
    return onednn::NoKernel(signature, "its input has no channels");
  }
  using dnnl::normalization_flags;
  const dnnl::batch_normalization_forward::primitive_desc description(
      {kInference, onednn::Arranged(signature.input(0).shape.dims(), options.layouts.input(0)),
       signature.Float("epsilon", kDefaultEpsilon),
       normalization_flags::use_global_stats | normalization_flags::use_scale |
           normalization_flags::use_shift},
      onednn::Attributes(), onednn::Engine());
  const Desc per_channel = onednn::Plain({BatchNormDimsOf(signature).channels});
  return std::make_unique<onednn::PrimitiveKernel>(
      description, dnnl::batch_normalization_forward(description),
      std::vector{onednn::Input(DNNL_ARG_SRC, 0, description.src_desc()),
                  onednn::Input(DNNL_ARG_SCALE, 1, per_channel),
                  onednn::Input(DNNL_ARG_SHIFT, 2, per_channel),
                  onednn::Input(DNNL_ARG_MEAN, 3, description.mean_desc()),
                  onednn::Input(DNNL_ARG_VARIANCE, 4, description.variance_desc()),
                  onednn::Output(DNNL_ARG_DST, 0, description.dst_desc())},
      signature, options.threads);
}

KernelResult BuildLayerNorm(const NodeSignature& signature, const OnednnOptions& options) {
  if (signature.outputs.size() > 1) {
    return onednn::NoKernel(signature, "it gives no inverse deviations");
  }
  const LayerNormDims dims = LayerNormDimsOf(signature);
  using dnnl::normalization_flags;
  normalization_flags flags = normalization_flags::use_scale;
  if (signature.has_input(2)) flags = flags | normalization_flags::use_shift;
  const dnnl::layer_normalization_forward::primitive_desc description(
      {kInference, onednn::Plain({dims.rows, dims.width}),
       signature.Float("epsilon", kDefaultEpsilon), flags},
      onednn::Attributes(), onednn::Engine());
  const Desc per_column = onednn::Plain({dims.width});
  std::vector<onednn::Operand> operands = {onednn::Input(DNNL_ARG_SRC, 0, description.src_desc()),
                                           onednn::Input(DNNL_ARG_SCALE, 1, per_column),
                                           onednn::Output(DNNL_ARG_DST, 0, description.dst_desc())};
  if (signature.has_input(2)) {
    operands.push_back(onednn::Input(DNNL_ARG_SHIFT, 2, per_column));
  }
  return std::make_unique<onednn::PrimitiveKernel>(description,
                                                   dnnl::layer_normalization_forward(description),
                                                   operands, signature, options.threads);
}

constexpr std::array kKernels = {
    OnednnKernel{"BatchNormalization", onednn::Make<BuildBatchNorm>, onednn::KeepLayout},
    OnednnKernel{"LayerNormalization", onednn::Make<BuildLayerNorm>},
};

}  // namespace

std::span<const OnednnKernel> NormOnednnKernels() { return kKernels; }

}  // namespace tinyprof
