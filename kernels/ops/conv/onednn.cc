// Conv and ConvTranspose on oneDNN.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/conv/onednn_folding.h"
#include "kernels/ops/conv/onednn_operands.h"
#include "kernels/ops/conv/onednn_timing.h"
#include "kernels/ops/onednn_families.h"
#include "kernels/ops/onednn_fusion.h"
#include "kernels/ops/onednn_primitive.h"

namespace tinyprof {
namespace {

using onednn::Desc;
using onednn::Dims;
using onednn::KernelResult;
using onednn::Weights;
using onednn::WeightsOf;
using onednn::Window;
using onednn::WindowOf;

using ConvShapeFn = Result<ConvShape> (*)(const NodeSignature& signature);

// The dimensions of what has one element a channel.
Dims ByChannel(const ConvShape& shape, size_t rank) {
  Dims dims(rank, 1);
  dims[1] = shape.out_channels;
  return dims;
}

constexpr bool IsTransposed(ConvShapeFn shape_of) { return shape_of == ConvTransposeShapeOf; }

template <class Forward>
typename Forward::primitive_desc Describe(const NodeSignature& signature, const ConvShape& shape,
                                          const Weights& weights, const Desc& x, const Desc& y,
                                          dnnl::algorithm algorithm) {
  const ConvFolding folding = FoldingOf(signature, shape);
  const Window window = WindowOf(shape, signature.input(0).shape.rank() - 2);
  const Desc w = signature.inputs[1].is_weight ? onednn::Free(weights.dims) : weights.given;
  constexpr auto kInference = dnnl::prop_kind::forward_inference;
  const auto describe = [&] {
    if (!signature.has_input(2) && !folding.makes_bias) {
      return typename Forward::desc(kInference, algorithm, x, w, y, window.strides,
                                    window.dilations, window.pads_begin, window.pads_end);
    }
    return typename Forward::desc(kInference, algorithm, x, w, onednn::Plain({shape.out_channels}),
                                  y, window.strides, window.dilations, window.pads_begin,
                                  window.pads_end);
  };
  constexpr bool kMayBeEmpty = true;
  dnnl::primitive_attr attributes = onednn::Attributes();
  attributes.set_post_ops(
      onednn::AfterOf(signature, folding.step_count, ByChannel(shape, x.dims().size())).operations);
  return {describe(), attributes, onednn::Engine(), kMayBeEmpty};
}

// What a measured choice depends on.
std::string KeyOf(const NodeSignature& signature, const ConvShape& shape,
                  const OnednnOptions& options) {
  std::string key =
      fmt::format("{} threads, rank {}, {}x{}x{} in {} groups, weights {}, bias {}, {}",
                  options.threads, signature.input(0).shape.rank(), shape.batch, shape.in_channels,
                  shape.out_channels, shape.groups, signature.inputs[1].is_weight,
                  signature.has_input(2), onednn::StepNames(signature));
  for (const ConvAxis& axis : shape.axes) {
    key += fmt::format("; {} {} {} {} {} {}", axis.positions, axis.extent, axis.kernel, axis.stride,
                       axis.dilation, axis.pad_begin);
  }
  return key;
}

// Whether Winograd's way is the faster one, each with the layouts that it likes best.
bool WinogradIsFaster(const NodeSignature& signature, const ConvShape& shape,
                      const Weights& weights, const OnednnOptions& options) {
  return AskedOnce(KeyOf(signature, shape, options), [&] {
    const auto describe = [&](dnnl::algorithm algorithm) {
      return Describe<dnnl::convolution_forward>(
          signature, shape, weights, onednn::Free(signature.input(0).shape.dims()),
          onednn::Free(signature.output().shape.dims()), algorithm);
    };
    const auto winograd = describe(dnnl::algorithm::convolution_winograd);
    const auto direct = describe(dnnl::algorithm::convolution_direct);
    return winograd && (!direct || IsFaster(winograd, direct));
  });
}

// The algorithms to try, the best first. There is no transposed Winograd.
template <ConvShapeFn shape_of>
std::vector<dnnl::algorithm> AlgorithmsFor(const NodeSignature& signature, const ConvShape& shape,
                                           const Weights& weights, const OnednnOptions& options) {
  using dnnl::algorithm;
  if (IsTransposed(shape_of)) return {algorithm::deconvolution_direct};
  const bool by_winograd = options.conv_algorithm == ConvAlgorithm::kWinograd ||
                           (options.conv_algorithm == ConvAlgorithm::kAuto &&
                            WinogradIsFaster(signature, shape, weights, options));
  if (by_winograd) return {algorithm::convolution_winograd, algorithm::convolution_direct};
  return {algorithm::convolution_direct};
}

// By the first algorithm that can be had; empty when there is none.
template <class Forward, ConvShapeFn shape_of>
typename Forward::primitive_desc DescribeBest(const NodeSignature& signature,
                                              const ConvShape& shape, const Weights& weights,
                                              const Desc& x, const Desc& y,
                                              const OnednnOptions& options) {
  typename Forward::primitive_desc description;
  for (const dnnl::algorithm algorithm :
       AlgorithmsFor<shape_of>(signature, shape, weights, options)) {
    description = Describe<Forward>(signature, shape, weights, x, y, algorithm);
    if (description) break;
  }
  return description;
}

template <class Forward, ConvShapeFn shape_of>
KernelResult Build(const NodeSignature& signature, const OnednnOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const ConvShape shape, shape_of(signature));
  const Weights weights = WeightsOf(signature.input(1), shape, IsTransposed(shape_of));
  const auto description = DescribeBest<Forward, shape_of>(
      signature, shape, weights,
      onednn::Arranged(signature.input(0).shape.dims(), options.layouts.input(0)),
      onednn::Arranged(signature.output().shape.dims(), options.layouts.output()), options);
  if (!description) return onednn::NoKernel(signature, "no implementation takes it");
  const ConvFolding folding = FoldingOf(signature, shape);
  onednn::After after = onednn::AfterOf(signature, folding.step_count,
                                        ByChannel(shape, signature.output().shape.rank()));
  if (onednn::RepeatsFunction(after.operations)) {
    return onednn::NoKernel(signature, "it takes a function once only");
  }
  std::vector<onednn::Operand>& operands = after.operands;
  operands.push_back(onednn::Input(DNNL_ARG_SRC, 0, description.src_desc()));
  operands.push_back(onednn::Output(DNNL_ARG_DST, 0, description.dst_desc()));
  operands.push_back(
      folding.scales
          ? onednn::Made(DNNL_ARG_WEIGHTS, weights.given, description.weights_desc(),
                         FoldedWeights(signature, shape, IsTransposed(shape_of)))
          : onednn::Weight(DNNL_ARG_WEIGHTS, 1, weights.given, description.weights_desc()));
  if (folding.makes_bias) {
    operands.push_back(onednn::Made(DNNL_ARG_BIAS, description.bias_desc(), description.bias_desc(),
                                    FoldedBias(signature, shape)));
  } else if (signature.has_input(2)) {
    operands.push_back(onednn::Input(DNNL_ARG_BIAS, 2, description.bias_desc()));
  }
  return std::make_unique<onednn::PrimitiveKernel>(
      description, Forward(description), operands, signature, options.threads,
      onednn::Extras{.summed = after.summed, .folded_flop_count = folding.flop_count});
}

// Convolutions choose; all others take what they are given.
template <class Forward, ConvShapeFn shape_of>
NodeLayouts ChooseLayouts(const NodeSignature& signature, const OnednnOptions& options) {
  const Result<ConvShape> shape = shape_of(signature);
  if (!shape) return {};
  const auto description = DescribeBest<Forward, shape_of>(
      signature, *shape, WeightsOf(signature.input(1), *shape, IsTransposed(shape_of)),
      onednn::Free(signature.input(0).shape.dims()), onednn::Free(signature.output().shape.dims()),
      options);
  if (!description) return {};
  NodeLayouts layouts = {.inputs = {onednn::LayoutOf(description.src_desc())},
                         .outputs = {onednn::LayoutOf(description.dst_desc())}};
  if (const std::optional<size_t> summed =
          onednn::AfterOf(signature, FoldingOf(signature, *shape).step_count, {1}).summed) {
    layouts.inputs.resize(signature.inputs.size());
    layouts.inputs[*summed] = layouts.output();
  }
  return layouts;
}

template <class Forward, ConvShapeFn shape_of>
constexpr OnednnKernel Entry(std::string_view op_type) {
  return {op_type, onednn::Make<Build<Forward, shape_of>>, ChooseLayouts<Forward, shape_of>, true};
}

constexpr std::array kKernels = {
    Entry<dnnl::convolution_forward, ConvShapeOf>("Conv"),
    Entry<dnnl::deconvolution_forward, ConvTransposeShapeOf>("ConvTranspose"),
};

}  // namespace

std::span<const OnednnKernel> ConvOnednnKernels() { return kKernels; }

}  // namespace tinyprof
