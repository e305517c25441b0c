// Conv and ConvTranspose on oneDNN.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
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

// The first of the library's implementations that `accepts` takes, in the library's order; empty
// when there is none.
template <class Forward, class Accepts>
typename Forward::primitive_desc Describe(const NodeSignature& signature, const ConvShape& shape,
                                          const Weights& weights, const Desc& x, const Desc& y,
                                          dnnl::algorithm algorithm, const Accepts& accepts) {
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
  // next_impl() reads it, and has no copy.
  const typename Forward::desc operation = describe();
  typename Forward::primitive_desc description = {operation, attributes, onednn::Engine(),
                                                  kMayBeEmpty};
  while (description && !accepts(description)) {
    if (!description.next_impl()) return {};
  }
  return description;
}

// What a measured choice depends on. What is fused behind a convolution changes all ways alike.
std::string KeyOf(const NodeSignature& signature, const ConvShape& shape,
                  const OnednnOptions& options) {
  std::string key =
      fmt::format("{} threads, rank {}, {}x{}x{} in {} groups, weights {}", options.threads,
                  signature.input(0).shape.rank(), shape.batch, shape.in_channels,
                  shape.out_channels, shape.groups, signature.inputs[1].is_weight);
  for (const ConvAxis& axis : shape.axes) {
    key += fmt::format("; {} {} {} {} {} {}", axis.positions, axis.extent, axis.kernel, axis.stride,
                       axis.dilation, axis.pad_begin);
  }
  return key;
}

// The instruction set in an implementation's name: "avx512_core" of "jit:avx512_core".
std::string_view IsaOf(std::string_view implementation) {
  return implementation.substr(implementation.rfind(':') + 1);
}

// The implementations of Winograd's way and of the direct one, the fastest first, each with the
// layouts that it likes best; empty where there is no Winograd.
std::vector<std::string> TimedWays(const NodeSignature& signature, const ConvShape& shape,
                                   const Weights& weights, const OnednnOptions& options) {
  return AskedOnce(KeyOf(signature, shape, options), [&] {
    std::vector<dnnl::convolution_forward::primitive_desc> ways;
    // Of an algorithm, all that are for the instruction set of the library's own choice.
    const auto add_ways = [&](dnnl::algorithm algorithm) {
      std::string isa;
      Describe<dnnl::convolution_forward>(
          signature, shape, weights, onednn::Free(signature.input(0).shape.dims()),
          onednn::Free(signature.output().shape.dims()), algorithm, [&](const auto& way) {
            if (isa.empty()) isa = IsaOf(way.impl_info_str());
            if (IsaOf(way.impl_info_str()) == isa) ways.push_back(way);
            return false;
          });
    };
    add_ways(dnnl::algorithm::convolution_winograd);
    if (ways.empty()) return std::vector<std::string>{};
    add_ways(dnnl::algorithm::convolution_direct);
    return FastestFirst(ways);
  });
}

struct Way {
  dnnl::algorithm algorithm{};
  std::string implementation;  // empty: the library's choice
};

// The ways to try, the best first. There is no transposed Winograd.
template <ConvShapeFn shape_of>
std::vector<Way> WaysFor(const NodeSignature& signature, const ConvShape& shape,
                         const Weights& weights, const OnednnOptions& options) {
  using dnnl::algorithm;
  if (IsTransposed(shape_of)) return {{algorithm::deconvolution_direct, ""}};
  std::vector<Way> ways;
  if (options.conv_algorithm != ConvAlgorithm::kDirect) {
    for (const std::string& name : TimedWays(signature, shape, weights, options)) {
      const bool is_winograd = name.find("wino") != std::string::npos;
      if (!is_winograd && options.conv_algorithm == ConvAlgorithm::kWinograd) continue;
      ways.push_back(
          {is_winograd ? algorithm::convolution_winograd : algorithm::convolution_direct, name});
    }
  }
  ways.push_back({algorithm::convolution_direct, ""});
  return ways;
}

// By the first way that can be had; empty when there is none.
template <class Forward, ConvShapeFn shape_of>
typename Forward::primitive_desc DescribeBest(const NodeSignature& signature,
                                              const ConvShape& shape, const Weights& weights,
                                              const Desc& x, const Desc& y,
                                              const OnednnOptions& options) {
  for (const Way& way : WaysFor<shape_of>(signature, shape, weights, options)) {
    auto description =
        Describe<Forward>(signature, shape, weights, x, y, way.algorithm, [&](const auto& found) {
          return way.implementation.empty() || found.impl_info_str() == way.implementation;
        });
    if (description) return description;
  }
  return {};
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
