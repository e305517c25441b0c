// The pools on oneDNN. Its maximum overlooks NaN, which our other kernels hand on.
#include <array>

#include "kernels/ops/onednn_families.h"
#include "kernels/ops/onednn_primitive.h"
#include "kernels/ops/pool/pool_shape.h"

namespace tinyprof {
namespace {

using onednn::Dims;
using onednn::KernelResult;

struct Window {
  Dims strides;
  Dims kernel;
  Dims dilations;
  Dims pads_begin;
  Dims pads_end;
};

Window WindowOf(const PoolShape& shape, size_t rank) {
  Window window;
  for (size_t i = 3 - rank; i < 3; ++i) {
    const PoolAxis& axis = shape.axes[i];
    window.strides.push_back(axis.window.stride);
    window.kernel.push_back(axis.window.kernel);
    window.dilations.push_back(axis.window.dilation - 1);
    window.pads_begin.push_back(axis.window.pad_begin);
    // What the last window reaches beyond the end; below 0 where it does not reach the end.
    window.pads_end.push_back((axis.output - 1) * axis.window.stride + axis.window.span() -
                              axis.input - axis.window.pad_begin);
  }
  return window;
}

// One window over everything.
Window WholeOf(const Shape& input) {
  Window window;
  for (size_t d = 2; d < input.rank(); ++d) {
    window.strides.push_back(1);
    window.kernel.push_back(input[d]);
    window.dilations.push_back(0);
    window.pads_begin.push_back(0);
    window.pads_end.push_back(0);
  }
  return window;
}

// The library divides every sum by the whole window. ONNX leaves out what hangs over the pads.
bool HasWholeWindowsOnly(const PoolShape& shape) {
  for (const PoolAxis& axis : shape.axes) {
    for (int64_t position = 0; position < axis.output; ++position) {
      if (axis.PaddedTapCount(position) != axis.window.kernel) return false;
    }
  }
  return true;
}

KernelResult MakeKernel(const NodeSignature& signature, const OnednnOptions& options,
                        dnnl::algorithm algorithm, const Window& window) {
  const dnnl::pooling_v2_forward::primitive_desc description(
      {dnnl::prop_kind::forward_inference, algorithm,
       onednn::Arranged(signature.input(0).shape.dims(), options.layouts.input(0)),
       onednn::Arranged(signature.output().shape.dims(), options.layouts.output()), window.strides,
       window.kernel, window.dilations, window.pads_begin, window.pads_end},
      onednn::Attributes(), onednn::Engine());
  return std::make_unique<onednn::PrimitiveKernel>(
      description, dnnl::pooling_v2_forward(description),
      std::vector{onednn::Input(DNNL_ARG_SRC, 0, description.src_desc()),
                  onednn::Output(DNNL_ARG_DST, 0, description.dst_desc())},
      signature, options.threads);
}

template <dnnl::algorithm algorithm>
KernelResult BuildPool(const NodeSignature& signature, const OnednnOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(signature));
  dnnl::algorithm used = algorithm;
  if (algorithm != dnnl::algorithm::pooling_max && shape.count_include_pad) {
    if (!HasWholeWindowsOnly(shape)) {
      return onednn::NoKernel(signature, "a window hangs over the pads");
    }
    used = dnnl::algorithm::pooling_avg_include_padding;
  }
  return MakeKernel(signature, options, used, WindowOf(shape, signature.input(0).shape.rank() - 2));
}

template <dnnl::algorithm algorithm>
KernelResult BuildGlobalPool(const NodeSignature& signature, const OnednnOptions& options) {
  return MakeKernel(signature, options, algorithm, WholeOf(signature.input(0).shape));
}

constexpr auto kMax = dnnl::algorithm::pooling_max;
constexpr auto kAverage = dnnl::algorithm::pooling_avg_exclude_padding;

constexpr std::array kKernels = {
    OnednnKernel{"MaxPool", onednn::Make<BuildPool<kMax>>, onednn::KeepLayout},
    OnednnKernel{"AveragePool", onednn::Make<BuildPool<kAverage>>, onednn::KeepLayout},
    OnednnKernel{"GlobalMaxPool", onednn::Make<BuildGlobalPool<kMax>>, onednn::KeepLayout},
    OnednnKernel{"GlobalAveragePool", onednn::Make<BuildGlobalPool<kAverage>>, onednn::KeepLayout},
};

}  // namespace

std::span<const OnednnKernel> PoolOnednnKernels() { return kKernels; }

}  // namespace tinyprof
