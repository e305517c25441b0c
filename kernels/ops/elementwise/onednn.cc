// Element-wise operators on oneDNN: those of one operand, and the arithmetic of two.
#include <array>
#include <limits>
#include <optional>

#include "kernels/ops/elementwise/unary_functors.h"
#include "kernels/ops/onednn_families.h"
#include "kernels/ops/onednn_primitive.h"

namespace tinyprof {
namespace {

using dnnl::algorithm;
using onednn::Desc;
using onednn::Dims;
using onednn::KernelResult;

KernelResult MakeUnary(const NodeSignature& signature, const OnednnOptions& options,
                       algorithm function, Coefficients coefficients) {
  const Shape& shape = signature.output().shape;
  const LayoutPtr& layout = options.layouts.input(0);
  const Desc data = layout == nullptr ? onednn::Plain({shape.element_count()})
                                      : onednn::Arranged(shape.dims(), layout);
  const dnnl::eltwise_forward::primitive_desc description(
      {dnnl::prop_kind::forward_inference, function, data, coefficients.alpha, coefficients.beta},
      onednn::Attributes(), onednn::Engine());
  return std::make_unique<onednn::PrimitiveKernel>(
      description, dnnl::eltwise_forward(description),
      std::vector{onednn::Input(DNNL_ARG_SRC, 0, description.src_desc()),
                  onednn::Output(DNNL_ARG_DST, 0, description.dst_desc())},
      signature, options.threads);
}

template <algorithm function>
KernelResult BuildUnary(const NodeSignature& signature, const OnednnOptions& options) {
  return MakeUnary(signature, options, function, {});
}

// A function whose attribute "alpha" is the library's.
template <class Op, algorithm function>
KernelResult BuildWithAlpha(const NodeSignature& signature, const OnednnOptions& options) {
  return MakeUnary(signature, options, function,
                   {.alpha = signature.Float("alpha", Op::kDefaults.alpha)});
}

KernelResult BuildSwish(const NodeSignature& signature, const OnednnOptions& options) {
  return MakeUnary(signature, options, algorithm::eltwise_swish, {.alpha = 1});
}

KernelResult BuildGelu(const NodeSignature& signature, const OnednnOptions& options) {
  const bool by_tanh = signature.String("approximate", "none") == "tanh";
  return MakeUnary(signature, options,
                   by_tanh ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf, {});
}

// A bound of Clip, from the attribute or a weight; nothing when only the run knows it.
std::optional<float> BoundOf(const NodeSignature& signature, size_t input, const char* attribute,
                             float fallback) {
  if (!signature.has_input(input)) return signature.Float(attribute, fallback);
  if (signature.inputs[input].data == nullptr) return std::nullopt;
  return *static_cast<const float*>(signature.inputs[input].data);
}

KernelResult BuildClip(const NodeSignature& signature, const OnednnOptions& options) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::optional<float> low = BoundOf(signature, 1, "min", -kInfinity);
  const std::optional<float> high = BoundOf(signature, 2, "max", kInfinity);
  if (!low || !high) return onednn::NoKernel(signature, "its bounds are known by the run only");
  return MakeUnary(signature, options, algorithm::eltwise_clip, {.alpha = *low, .beta = *high});
}

// The dimensions of an operand, as many as the result has.
Dims Aligned(const Shape& operand, const Shape& result) {
  Dims dims(result.rank() - operand.rank(), 1);
  dims.insert(dims.end(), operand.dims().begin(), operand.dims().end());
  if (dims.empty()) dims.push_back(1);
  return dims;
}

// The library repeats only the second operand, so a first one that is to be repeated becomes the
// second where their order does not matter.
template <algorithm function>
KernelResult BuildBinary(const NodeSignature& signature, const OnednnOptions& options) {
  if (signature.inputs.size() != 2) {
    return onednn::NoKernel(signature, "it takes two operands");
  }
  constexpr bool kCommutes = function != algorithm::binary_sub && function != algorithm::binary_div;
  const Shape& result = signature.output().shape;
  const Dims y = Aligned(result, result);
  size_t first = 0;
  if (Aligned(signature.input(0).shape, result) != y) {
    if (!kCommutes || Aligned(signature.input(1).shape, result) != y) {
      return onednn::NoKernel(signature, "it repeats the second operand only");
    }
    first = 1;
  }
  const size_t second = 1 - first;
  const dnnl::binary::primitive_desc description(
      {function, onednn::Arranged(y, options.layouts.input(first)),
       onednn::Arranged(Aligned(signature.input(second).shape, result),
                        options.layouts.input(second)),
       onednn::Arranged(y, options.layouts.output())},
      onednn::Attributes(), onednn::Engine());
  return std::make_unique<onednn::PrimitiveKernel>(
      description, dnnl::binary(description),
      std::vector{onednn::Input(DNNL_ARG_SRC_0, first, description.src0_desc()),
                  onednn::Input(DNNL_ARG_SRC_1, second, description.src1_desc()),
                  onednn::Output(DNNL_ARG_DST, 0, description.dst_desc())},
      signature, options.threads);
}

// Operands of the result's shape get the layout that the first of them has; one that is repeated
// stays as it is if that is of the result's rank.
NodeLayouts KeepFirstLayout(const NodeSignature& signature, const OnednnOptions& options) {
  NodeLayouts layouts;
  layouts.inputs.resize(signature.inputs.size());
  LayoutPtr kept;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    if (signature.input(i).shape != signature.output().shape) {
      layouts.inputs[i] = options.layouts.input(i);
    } else if (kept == nullptr) {
      kept = options.layouts.input(i);
    }
  }
  if (kept == nullptr) return {};
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    if (signature.input(i).shape == signature.output().shape) layouts.inputs[i] = kept;
  }
  layouts.outputs = {kept};
  return layouts;
}

// Log is left out: where its result is near 0, the library's has lost all digits. Its Relu gives 0
// for NaN, as a maximum of the processor does; the other backends give NaN.
constexpr std::array kKernels = {
    OnednnKernel{"Relu", onednn::Make<BuildUnary<algorithm::eltwise_relu>>, onednn::KeepLayout},
    OnednnKernel{"LeakyRelu", onednn::Make<BuildWithAlpha<LeakyRelu, algorithm::eltwise_relu>>,
                 onednn::KeepLayout},
    OnednnKernel{"Elu", onednn::Make<BuildWithAlpha<Elu, algorithm::eltwise_elu>>,
                 onednn::KeepLayout},
    OnednnKernel{"Sigmoid", onednn::Make<BuildUnary<algorithm::eltwise_logistic>>,
                 onednn::KeepLayout},
    OnednnKernel{"HardSwish", onednn::Make<BuildUnary<algorithm::eltwise_hardswish>>,
                 onednn::KeepLayout},
    OnednnKernel{"Tanh", onednn::Make<BuildUnary<algorithm::eltwise_tanh>>, onednn::KeepLayout},
    OnednnKernel{"Softplus", onednn::Make<BuildUnary<algorithm::eltwise_soft_relu>>,
                 onednn::KeepLayout},
    OnednnKernel{"Swish", onednn::Make<BuildSwish>, onednn::KeepLayout},
    OnednnKernel{"Gelu", onednn::Make<BuildGelu>, onednn::KeepLayout},
    OnednnKernel{"Clip", onednn::Make<BuildClip>, onednn::KeepLayout},
    OnednnKernel{"Exp", onednn::Make<BuildUnary<algorithm::eltwise_exp>>, onednn::KeepLayout},
    OnednnKernel{"Sqrt", onednn::Make<BuildUnary<algorithm::eltwise_sqrt>>, onednn::KeepLayout},
    OnednnKernel{"Abs", onednn::Make<BuildUnary<algorithm::eltwise_abs>>, onednn::KeepLayout},
    OnednnKernel{"Round", onednn::Make<BuildUnary<algorithm::eltwise_round>>, onednn::KeepLayout},
    OnednnKernel{"Add", onednn::Make<BuildBinary<algorithm::binary_add>>, KeepFirstLayout},
    OnednnKernel{"Sum", onednn::Make<BuildBinary<algorithm::binary_add>>, KeepFirstLayout},
    OnednnKernel{"Sub", onednn::Make<BuildBinary<algorithm::binary_sub>>, KeepFirstLayout},
    OnednnKernel{"Mul", onednn::Make<BuildBinary<algorithm::binary_mul>>, KeepFirstLayout},
    OnednnKernel{"Div", onednn::Make<BuildBinary<algorithm::binary_div>>, KeepFirstLayout},
    OnednnKernel{"Max", onednn::Make<BuildBinary<algorithm::binary_max>>, KeepFirstLayout},
    OnednnKernel{"Min", onednn::Make<BuildBinary<algorithm::binary_min>>, KeepFirstLayout},
};

}  // namespace

std::span<const OnednnKernel> ElementwiseOnednnKernels() { return kKernels; }

}  // namespace tinyprof
