#include "kernels/ops/quantize/products.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/base/checked_math.h"
#include "kernels/ops/checks.h"
#include "kernels/ops/conv/reference.h"
#include "kernels/ops/convert.h"
#include "kernels/ops/quantize/linear.h"
#include "kernels/ops/quantize/product_dims.h"
#include "kernels/ops/quantize/reference.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {
namespace {

using Types = std::vector<TensorType>;
using KernelResult = Result<std::unique_ptr<Kernel>>;

using DimsFn = Result<ProductDims> (*)(const NodeSignature& product);
using LoopFn = void (*)(const NodeSignature& product, const KernelArgs& args);

int64_t RoundUp(int64_t bytes) {
  constexpr auto kAlignment = static_cast<int64_t>(Buffer::kAlignment);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
int64_t Int32Bytes(const TensorType& type) {
  return RoundUp(type.shape.element_count() * static_cast<int64_t>(sizeof(int32_t)));
}

template <LoopFn loop>
class ProductKernel final : public Kernel {
 public:
  ProductKernel(const NodeSignature& signature, const ProductRoles& roles, ProductDims dims)
      : roles_(roles), dims_(std::move(dims)), product_(FloatProductOf(signature, roles)) {
    for (NodeSignature::Input& input : product_.inputs) {
      operands_.push_back({.type = {DType::kInt32, input.type.shape}});
    }
    if (roles.bias != 0 && signature.has_input(roles.bias)) {
      operands_.push_back({.type = signature.input(roles.bias)});
    }
    product_.outputs = {{DType::kFloat32, dims_.output}};
    result_.push_back({.type = {DType::kInt32, dims_.output}});
  }
  std::string implementation() const override { return "naive"; }
  int64_t scratch_bytes() const override {
    const int64_t operands = Int32Bytes(operands_[0].type) + Int32Bytes(operands_[1].type);
    return operands + (roles_.is_linear ? Int32Bytes(result_[0].type) : 0);
  }

  void Run(const KernelArgs& args) const noexcept override {
    auto* x = reinterpret_cast<int32_t*>(args.scratch.data());
    auto* w = reinterpret_cast<int32_t*>(args.scratch.data() + Int32Bytes(operands_[0].type));
    Widen(args, roles_.x, roles_.x_zero, dims_.x_run, dims_.x_rows, x);
    Widen(args, roles_.w, roles_.w_zero, dims_.w_run, dims_.w_channels, w);
    operands_[0].data = x;
    operands_[1].data = w;
    if (operands_.size() > 2) operands_[2].data = args.inputs[roles_.bias].data;
    result_[0].data = roles_.is_linear ? args.scratch.data() + Int32Bytes(operands_[0].type) +
                                             Int32Bytes(operands_[1].type)
                                       : args.outputs[0].data;
    loop(product_, {.inputs = operands_, .outputs = result_, .scratch = {}});
    if (roles_.is_linear) {
      args.outputs[0].type.dtype == DType::kInt8 ? Requantize<int8_t>(args)
                                                 : Requantize<uint8_t>(args);
    }
  }

 private:
  // Elements of input `index` less their zero points, which change every `run` of `channels`.
  void Widen(const KernelArgs& args, size_t index, size_t zero, int64_t run, int64_t channels,
             int32_t* out) const {
    const ConstTensorView& from = args.inputs[index];
    const int64_t count = from.element_count();
    FindConversion(from.type.dtype, DType::kInt32)(from.data, out, 0, count);
    if (!args.has_input(zero)) return;
    for (int64_t i = 0; i < count; ++i) out[i] -= ZeroAt(args.inputs[zero], i / run % channels);
  }

  template <class Q>
  void Requantize(const KernelArgs& args) const {
    const auto* sums = static_cast<const int32_t*>(result_[0].data);
    const auto zero = static_cast<float>(ZeroAt(args.inputs[roles_.y_zero], 0));
    const int64_t count = dims_.output.element_count();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t channel = i / dims_.y_run % dims_.w_channels;
      const float factor = FactorAt(args, channel);
      args.Out<Q>()[i] = Saturated<Q>(std::nearbyint(static_cast<float>(sums[i]) * factor) + zero);
    }
  }

  ProductRoles roles_;
  ProductDims dims_;
  NodeSignature product_;
  // Made ahead, since Run must not allocate; one thread runs a kernel at a time.
  mutable std::vector<ConstTensorView> operands_;
  mutable std::vector<TensorView> result_;
};

bool IsByte(DType dtype) { return dtype == DType::kInt8 || dtype == DType::kUInt8; }

// A zero point has the type of its operand, a scale is float32; each is one number or one for each
// of `channels`.
Status CheckList(const NodeSignature& signature, size_t index, DType dtype, int64_t channels) {
  if (!signature.has_input(index)) return {};
  const TensorType& type = signature.input(index);
  const int64_t count = type.shape.element_count();
  if (type.dtype == dtype && (count == 1 || count == channels)) return {};
  return ShapeMismatch(signature,
                       fmt::format("input {} is {} of shape {}, wanted 1 or {} of {}", index,
                                   Name(type.dtype), type.shape.ToString(), channels, Name(dtype)));
}

template <DimsFn dims_of>
Result<Types> InferProduct(const NodeSignature& signature, size_t output_count,
                           const ProductRoles& roles) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  for (const size_t index : {roles.x, roles.w}) {
    if (IsByte(signature.input(index).dtype)) continue;
    return Fail(ErrorCode::kInvalidArgument, "DTYPE_MISMATCH",
                fmt::format("{} wants int8 or uint8 for input {}", signature.node->op_type, index));
  }
  TINYPROF_ASSIGN_OR_RETURN(const ProductDims dims, dims_of(FloatProductOf(signature, roles)));
  TINYPROF_RETURN_IF_ERROR(
      CheckList(signature, roles.x_zero, signature.input(roles.x).dtype, dims.x_rows));
  TINYPROF_RETURN_IF_ERROR(
      CheckList(signature, roles.w_zero, signature.input(roles.w).dtype, dims.w_channels));
  if (!roles.is_linear) return Types{{DType::kInt32, dims.output}};
  TINYPROF_RETURN_IF_ERROR(CheckList(signature, roles.x_scale, DType::kFloat32, 1));
  TINYPROF_RETURN_IF_ERROR(CheckList(signature, roles.w_scale, DType::kFloat32, dims.w_channels));
  TINYPROF_RETURN_IF_ERROR(CheckList(signature, roles.y_scale, DType::kFloat32, 1));
  const DType dtype = signature.input(roles.y_zero).dtype;
  if (!IsByte(dtype)) return ShapeMismatch(signature, "the output's zero point is no byte");
  TINYPROF_RETURN_IF_ERROR(CheckList(signature, roles.y_zero, dtype, 1));
  if (roles.bias != 0 && signature.has_input(roles.bias)) {
    TINYPROF_RETURN_IF_ERROR(
        CheckInputShape(signature, roles.bias, "bias", Shape{dims.w_channels}));
    TINYPROF_RETURN_IF_ERROR(CheckList(signature, roles.bias, DType::kInt32, dims.w_channels));
  }
  return Types{{dtype, dims.output}};
}

template <DimsFn dims_of>
Result<Cost> ProductCost(const NodeSignature& signature, const ProductRoles& roles) {
  TINYPROF_ASSIGN_OR_RETURN(const ProductDims dims, dims_of(FloatProductOf(signature, roles)));
  Cost cost;
  TINYPROF_ASSIGN_OR_RETURN(cost.int_op_count, CheckedMul(2, dims.mac_count));
  return cost;
}

template <DimsFn dims_of, LoopFn loop>
KernelResult MakeProduct(const NodeSignature& signature, const ProductRoles& roles) {
  TINYPROF_ASSIGN_OR_RETURN(ProductDims dims, dims_of(FloatProductOf(signature, roles)));
  return std::make_unique<ProductKernel<loop>>(signature, roles, std::move(dims));
}

}  // namespace

Result<Types> InferMatmulInteger(const NodeSignature& signature, size_t output_count) {
  return InferProduct<MatmulDims>(signature, output_count, kIntegerRoles);
}
Result<Types> InferQLinearMatmul(const NodeSignature& signature, size_t output_count) {
  return InferProduct<MatmulDims>(signature, output_count, kLinearRoles);
}
Result<Types> InferConvInteger(const NodeSignature& signature, size_t output_count) {
  return InferProduct<ConvDims>(signature, output_count, kIntegerRoles);
}
Result<Types> InferQLinearConv(const NodeSignature& signature, size_t output_count) {
  return InferProduct<ConvDims>(signature, output_count, kLinearRoles);
}

Result<Cost> MatmulIntegerCost(const NodeSignature& signature) {
  return ProductCost<MatmulDims>(signature, kIntegerRoles);
}
Result<Cost> QLinearMatmulCost(const NodeSignature& signature) {
  return ProductCost<MatmulDims>(signature, kLinearRoles);
}
Result<Cost> ConvIntegerCost(const NodeSignature& signature) {
  return ProductCost<ConvDims>(signature, kIntegerRoles);
}
Result<Cost> QLinearConvCost(const NodeSignature& signature) {
  return ProductCost<ConvDims>(signature, kLinearRoles);
}

KernelResult MakeMatmulIntegerKernel(const NodeSignature& signature,
                                     const KernelOptions& /*options*/) {
  return MakeProduct<MatmulDims, IntMatmulReference<uint32_t>>(signature, kIntegerRoles);
}
KernelResult MakeQLinearMatmulKernel(const NodeSignature& signature,
                                     const KernelOptions& /*options*/) {
  return MakeProduct<MatmulDims, IntMatmulReference<uint32_t>>(signature, kLinearRoles);
}
KernelResult MakeConvIntegerKernel(const NodeSignature& signature,
                                   const KernelOptions& /*options*/) {
  return MakeProduct<ConvDims, ConvReference<uint32_t>>(signature, kIntegerRoles);
}
KernelResult MakeQLinearConvKernel(const NodeSignature& signature,
                                   const KernelOptions& /*options*/) {
  return MakeProduct<ConvDims, ConvReference<uint32_t>>(signature, kLinearRoles);
}

}  // namespace tinyprof
