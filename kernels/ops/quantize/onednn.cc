// Products of 8-bit integers on oneDNN, and quantization in the layouts that they like.
//
// Only where the CPU has dot products of 8-bit integers: elsewhere the library adds pairs of
// products in 16 bits, which they may leave.
#include <array>
#include <optional>
#include <vector>

#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/conv/onednn_operands.h"
#include "kernels/ops/eigen_kernels.h"
#include "kernels/ops/matmul/matmul_shape.h"
#include "kernels/ops/onednn_families.h"
#include "kernels/ops/onednn_primitive.h"
#include "kernels/ops/quantize/product_dims.h"

namespace tinyprof {
namespace {

using onednn::Desc;
using onednn::Dims;
using onednn::KernelResult;

constexpr int kZeroOfX = DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC;

bool HasExactDots() { return dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx512_core_vnni; }

bool IsKnown(const NodeSignature& signature, size_t index) {
  return !signature.has_input(index) || signature.inputs[index].data != nullptr;
}

ConstTensorView ViewOf(const NodeSignature& signature, size_t index) {
  return {.type = signature.input(index), .data = signature.inputs[index].data};
}

// Why the library does not do the product, or nothing. Weights are symmetric and known before the
// run, as scales are; a zero point of x or y is one number.
std::optional<std::string_view> WhyNot(const NodeSignature& signature, const ProductRoles& roles) {
  if (!HasExactDots()) return "this CPU has no dot products of 8-bit integers";
  if (signature.inputs[roles.w].data == nullptr || !IsKnown(signature, roles.w_zero)) {
    return "its weights are known by the run only";
  }
  if (signature.input(roles.w).dtype != DType::kInt8) return "its weights are not int8";
  if (signature.has_input(roles.w_zero)) {
    const ConstTensorView zeros = ViewOf(signature, roles.w_zero);
    for (int64_t i = 0; i < zeros.element_count(); ++i) {
      if (ZeroAt(zeros, i) != 0) return "its weights have a zero point";
    }
  }
  if (signature.has_input(roles.x_zero) &&
      signature.input(roles.x_zero).shape.element_count() != 1) {
    return "it has a zero point for each row";
  }
  if (!roles.is_linear) return std::nullopt;
  for (const size_t index : {roles.x_scale, roles.w_scale, roles.y_scale, roles.y_zero}) {
    if (!IsKnown(signature, index)) return "its scales are known by the run only";
  }
  return std::nullopt;
}

// Scales of the sums, with a list for dimension 1 of the output; zero points of x and y.
dnnl::primitive_attr AttributesOf(const NodeSignature& signature, const ProductRoles& roles,
                                  int channel_dimension, int64_t channels) {
  dnnl::primitive_attr attributes = onednn::Attributes();
  if (signature.has_input(roles.x_zero)) {
    const bool known = IsKnown(signature, roles.x_zero);
    attributes.set_zero_points(
        DNNL_ARG_SRC, 0,
        {known ? ZeroAt(ViewOf(signature, roles.x_zero), 0) : DNNL_RUNTIME_S32_VAL});
  }
  if (!roles.is_linear) return attributes;
  std::vector<ConstTensorView> views(signature.inputs.size());
  for (const size_t index : {roles.x_scale, roles.w_scale, roles.y_scale}) {
    views[index] = ViewOf(signature, index);
  }
  const bool by_channel = views[roles.w_scale].element_count() > 1;
  std::vector<float> scales;
  for (int64_t c = 0; c < (by_channel ? channels : 1); ++c) {
    scales.push_back(FactorAt({.inputs = views, .outputs = {}, .scratch = {}}, c));
  }
  attributes.set_output_scales(by_channel ? 1 << channel_dimension : 0, scales);
  attributes.set_zero_points(DNNL_ARG_DST, 0, {ZeroAt(ViewOf(signature, roles.y_zero), 0)});
  return attributes;
}

// The operands that both products have.
template <class Description>
std::vector<onednn::Operand> OperandsOf(const NodeSignature& signature, const ProductRoles& roles,
                                        const Description& description, const Desc& weights) {
  std::vector<onednn::Operand> operands = {
      onednn::Input(DNNL_ARG_SRC, roles.x, description.src_desc()),
      onednn::Weight(DNNL_ARG_WEIGHTS, roles.w, weights, description.weights_desc()),
      onednn::Output(DNNL_ARG_DST, 0, description.dst_desc())};
  if (!IsKnown(signature, roles.x_zero)) {
    operands.push_back(onednn::ZeroPoint(kZeroOfX, roles.x_zero));
  }
  return operands;
}

bool HasBias(const NodeSignature& signature, const ProductRoles& roles) {
  return roles.bias != 0 && signature.has_input(roles.bias);
}

dnnl::convolution_forward::primitive_desc DescribeConv(const NodeSignature& signature,
                                                       const ProductRoles& roles,
                                                       const ConvShape& shape, const Desc& x,
                                                       const Desc& y) {
  const onednn::Window window = onednn::WindowOf(shape, signature.input(roles.x).shape.rank() - 2);
  const Desc w =
      onednn::Free(onednn::WeightsOf(signature.input(roles.w), shape, false).dims, DType::kInt8);
  constexpr auto kInference = dnnl::prop_kind::forward_inference;
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  const auto describe = [&]() -> dnnl::convolution_forward::desc {
    if (!HasBias(signature, roles)) {
      return {kInference,        kDirect,        x, w, y, window.strides, window.dilations,
              window.pads_begin, window.pads_end};
    }
    return {kInference,
            kDirect,
            x,
            w,
            onednn::Plain({shape.out_channels}, DType::kInt32),
            y,
            window.strides,
            window.dilations,
            window.pads_begin,
            window.pads_end};
  };
  constexpr bool kMayBeEmpty = true;
  return {describe(), AttributesOf(signature, roles, 1, shape.out_channels), onednn::Engine(),
          kMayBeEmpty};
}

template <const ProductRoles& roles>
KernelResult BuildConv(const NodeSignature& signature, const OnednnOptions& options) {
  if (const auto why = WhyNot(signature, roles)) return onednn::NoKernel(signature, *why);
  TINYPROF_ASSIGN_OR_RETURN(const ConvShape shape, ConvShapeOf(FloatProductOf(signature, roles)));
  const TensorType& x = signature.input(roles.x);
  const TensorType& y = signature.output();
  const auto description =
      DescribeConv(signature, roles, shape,
                   onednn::Arranged(x.shape.dims(), options.layouts.input(roles.x), x.dtype),
                   onednn::Arranged(y.shape.dims(), options.layouts.output(), y.dtype));
  if (!description) return onednn::NoKernel(signature, "no implementation takes it");
  std::vector<onednn::Operand> operands =
      OperandsOf(signature, roles, description,
                 onednn::WeightsOf(signature.input(roles.w), shape, false).given);
  if (HasBias(signature, roles)) {
    operands.push_back(onednn::Input(DNNL_ARG_BIAS, roles.bias, description.bias_desc()));
  }
  return std::make_unique<onednn::PrimitiveKernel>(
      description, dnnl::convolution_forward(description), operands, signature, options.threads);
}

template <const ProductRoles& roles>
NodeLayouts ChooseConvLayouts(const NodeSignature& signature, const OnednnOptions& /*options*/) {
  if (WhyNot(signature, roles)) return {};
  const Result<ConvShape> shape = ConvShapeOf(FloatProductOf(signature, roles));
  if (!shape) return {};
  const TensorType& x = signature.input(roles.x);
  const TensorType& y = signature.output();
  const auto description =
      DescribeConv(signature, roles, *shape, onednn::Free(x.shape.dims(), x.dtype),
                   onednn::Free(y.shape.dims(), y.dtype));
  if (!description) return {};
  return {.inputs = {onednn::LayoutOf(description.src_desc())},
          .outputs = {onednn::LayoutOf(description.dst_desc())}};
}

// One B for all rows of A.
template <const ProductRoles& roles>
KernelResult BuildMatmul(const NodeSignature& signature, const OnednnOptions& options) {
  if (const auto why = WhyNot(signature, roles)) return onednn::NoKernel(signature, *why);
  TINYPROF_ASSIGN_OR_RETURN(const MatmulShape shape,
                            MatmulShapeOf(FloatProductOf(signature, roles)));
  if (signature.input(roles.w).shape.element_count() != shape.k * shape.n) {
    return onednn::NoKernel(signature, "it has several right operands");
  }
  const int64_t rows = signature.output().shape.element_count() / shape.n;
  constexpr int kColumns = 1;
  const dnnl::matmul::primitive_desc description(
      {onednn::Plain({rows, shape.k}, signature.input(roles.x).dtype),
       onednn::Free({shape.k, shape.n}, DType::kInt8),
       onednn::Plain({rows, shape.n}, signature.output().dtype)},
      AttributesOf(signature, roles, kColumns, shape.n), onednn::Engine());
  return std::make_unique<onednn::PrimitiveKernel>(
      description, dnnl::matmul(description),
      OperandsOf(signature, roles, description, onednn::Plain({shape.k, shape.n}, DType::kInt8)),
      signature, options.threads);
}

// Of one scale, in whatever order the elements lie: by the Eigen kernel of so many numbers. Where
// they are row-major that kernel does it without our help.
KernelResult BuildElementwise(const NodeSignature& signature, const OnednnOptions& options) {
  if (options.layouts.AllRowMajor()) return onednn::NoKernel(signature, "they are row-major");
  NodeSignature flat = signature;
  const Shape elements = {signature.input(0).shape.element_count()};
  flat.inputs[0].type.shape = elements;
  flat.outputs[0].shape = elements;
  const EigenKernel* kernel = FindEigenKernel(onednn::PreparedIsa(), signature.node->op_type);
  return kernel->factory(flat, {.threads = options.threads});
}

// The layout that the input has, for the first output too.
NodeLayouts KeepLayout(const NodeSignature& signature, const OnednnOptions& options) {
  const LayoutPtr layout = options.layouts.input(0);
  for (size_t i = 1; i < signature.inputs.size(); ++i) {
    if (signature.has_input(i) && signature.input(i).shape.element_count() != 1) return {};
  }
  if (layout == nullptr) return {};
  const LayoutPtr retyped = onednn::Retyped(layout, signature.output().dtype);
  if (retyped == nullptr) return {};
  NodeLayouts kept;
  kept.inputs.resize(signature.inputs.size());
  kept.inputs[0] = layout;
  kept.outputs.resize(signature.outputs.size());
  kept.outputs[0] = retyped;
  return kept;
}

template <KernelResult (*build)(const NodeSignature& signature, const OnednnOptions& options)>
constexpr OnednnFactory Factory() {
  return onednn::Make<build, onednn::CheckAnyOperands>;
}

constexpr std::array kKernels = {
    OnednnKernel{"QLinearConv", Factory<BuildConv<kLinearRoles>>(),
                 ChooseConvLayouts<kLinearRoles>},
    OnednnKernel{"ConvInteger", Factory<BuildConv<kIntegerRoles>>(),
                 ChooseConvLayouts<kIntegerRoles>},
    OnednnKernel{"QLinearMatMul", Factory<BuildMatmul<kLinearRoles>>()},
    OnednnKernel{"MatMulInteger", Factory<BuildMatmul<kIntegerRoles>>()},
    OnednnKernel{"QuantizeLinear", Factory<BuildElementwise>(), KeepLayout},
    OnednnKernel{"DequantizeLinear", Factory<BuildElementwise>(), KeepLayout},
    OnednnKernel{"DynamicQuantizeLinear", Factory<BuildElementwise>(), KeepLayout},
};

}  // namespace

std::span<const OnednnKernel> QuantizeOnednnKernels() { return kKernels; }

}  // namespace tinyprof
