// MatMul and Gemm on oneDNN.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/ops/matmul/matmul_shape.h"
#include "kernels/ops/onednn_families.h"
#include "kernels/ops/onednn_fusion.h"
#include "kernels/ops/onednn_primitive.h"

namespace tinyprof {
namespace {

using onednn::Desc;
using onednn::Dims;
using onednn::KernelResult;

// A stack of matrices: the dimensions of the batch, then rows and columns.
struct Stack {
  Dims dims;
  Dims strides;
  Desc given() const { return onednn::Strided(dims, strides); }
};

Stack Matrix(int64_t rows, int64_t columns, bool transposed) {
  return {.dims = {rows, columns}, .strides = transposed ? Dims{1, rows} : Dims{columns, 1}};
}

// A row of B at a time is all that is read of it for each A: packing would only add reading.
bool IsPacked(const NodeSignature& signature, int64_t m) {
  return signature.inputs[1].is_weight && m > 1;
}

KernelResult MakeKernel(const NodeSignature& signature, const OnednnOptions& options,
                        const dnnl::matmul::primitive_desc& description, const Stack& b,
                        std::vector<onednn::Operand> others, const std::optional<size_t>& summed) {
  if (onednn::RepeatsFunction(description.get_primitive_attr().get_post_ops())) {
    return onednn::NoKernel(signature, "it takes a function once only");
  }
  others.push_back(onednn::Input(DNNL_ARG_SRC, 0, description.src_desc()));
  others.push_back(onednn::Weight(DNNL_ARG_WEIGHTS, 1, b.given(), description.weights_desc()));
  others.push_back(onednn::Output(DNNL_ARG_DST, 0, description.dst_desc()));
  return std::make_unique<onednn::PrimitiveKernel>(description, dnnl::matmul(description), others,
                                                   signature, options.threads,
                                                   onednn::Extras{.summed = summed});
}

// The batch dimensions of an operand in front of its matrix; a repeated one has length 1.
Stack WithBatch(const MatmulShape& shape, const std::array<int64_t, kMaxRank>& strides,
                const Stack& matrix) {
  Stack stack;
  for (size_t i = 0; i < shape.batch_rank; ++i) {
    stack.dims.push_back(strides[i] == 0 ? 1 : shape.batch_dims[i]);
    stack.strides.push_back(strides[i] == 0 ? matrix.dims[0] * matrix.dims[1] : strides[i]);
  }
  stack.dims.insert(stack.dims.end(), matrix.dims.begin(), matrix.dims.end());
  stack.strides.insert(stack.strides.end(), matrix.strides.begin(), matrix.strides.end());
  return stack;
}

// With one B for all of a contiguous A the batch is only more rows.
void FoldBatch(MatmulShape& shape) {
  for (size_t i = 0; i < shape.batch_rank; ++i) {
    const bool a_is_whole = shape.batch_dims[i] == 1 || shape.a_strides[i] != 0;
    if (!a_is_whole || (shape.batch_dims[i] != 1 && shape.b_strides[i] != 0)) return;
  }
  shape.m *= shape.batch_count;
  shape.batch_rank = 0;
}

// The dimensions of what has one element a column.
Dims ByColumn(const Dims& y) {
  Dims dims(y.size(), 1);
  dims.back() = y.back();
  return dims;
}

KernelResult BuildMatmul(const NodeSignature& signature, const OnednnOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(MatmulShape shape, MatmulShapeOf(signature));
  FoldBatch(shape);
  const Stack a = WithBatch(shape, shape.a_strides, Matrix(shape.m, shape.k, false));
  const Stack b = WithBatch(shape, shape.b_strides, Matrix(shape.k, shape.n, false));
  Dims y(shape.batch_dims.begin(),
         shape.batch_dims.begin() + static_cast<std::ptrdiff_t>(shape.batch_rank));
  y.insert(y.end(), {shape.m, shape.n});
  const onednn::After after = onednn::AfterOf(signature, 0, ByColumn(y));
  dnnl::primitive_attr attributes = onednn::Attributes();
  attributes.set_post_ops(after.operations);
  const dnnl::matmul::primitive_desc description(
      {a.given(), IsPacked(signature, shape.m) ? onednn::Free(b.dims) : b.given(),
       onednn::Plain(y)},
      attributes, onednn::Engine());
  return MakeKernel(signature, options, description, b, after.operands, after.summed);
}

Desc BiasOf(const GemmShape& shape) {
  return onednn::Plain(
      {shape.bias_row_stride == 0 ? 1 : shape.m, shape.bias_column_stride == 0 ? 1 : shape.n});
}

// alpha A'B' + beta C as beta (alpha / beta A'B' + C), since what the library adds after a product
// has no factor of its own; then what follows in a fused node.
struct Attributes {
  dnnl::primitive_attr attributes = onednn::Attributes();
  std::vector<onednn::Operand> operands;
  std::optional<size_t> summed;
};
Attributes ScaledAndAdded(const NodeSignature& signature, const GemmShape& shape, bool adds) {
  Attributes result;
  const float scale = adds ? shape.alpha / shape.beta : shape.alpha;
  if (scale != 1) result.attributes.set_output_scales(0, {scale});
  dnnl::post_ops first;
  if (adds) {
    result.operands.push_back(
        onednn::Input(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, 2, BiasOf(shape)));
    first.append_binary(dnnl::algorithm::binary_add, BiasOf(shape));
    if (shape.beta != 1) {
      first.append_eltwise(1, dnnl::algorithm::eltwise_linear, shape.beta, 0);
    }
  }
  onednn::After after = onednn::AfterOf(signature, 0, {1, shape.n}, std::move(first));
  result.attributes.set_post_ops(after.operations);
  result.operands.insert(result.operands.end(), after.operands.begin(), after.operands.end());
  result.summed = after.summed;
  return result;
}

KernelResult BuildGemm(const NodeSignature& signature, const OnednnOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const GemmShape shape, GemmShapeOf(signature));
  const Stack a = Matrix(shape.m, shape.k, shape.transpose_a);
  const Stack b = Matrix(shape.k, shape.n, shape.transpose_b);
  const Desc wanted_b = IsPacked(signature, shape.m) ? onednn::Free(b.dims) : b.given();
  const Desc y = onednn::Plain({shape.m, shape.n});
  const bool adds = shape.has_bias && shape.beta != 0;
  const bool is_row = shape.bias_row_stride == 0 && shape.bias_column_stride == 1;
  if (adds && is_row && shape.alpha == 1 && shape.beta == 1) {
    Attributes after = ScaledAndAdded(signature, shape, false);
    const dnnl::matmul::primitive_desc description({a.given(), wanted_b, BiasOf(shape), y},
                                                   after.attributes, onednn::Engine());
    after.operands.push_back(onednn::Input(DNNL_ARG_BIAS, 2, BiasOf(shape)));
    return MakeKernel(signature, options, description, b, after.operands, after.summed);
  }
  const Attributes after = ScaledAndAdded(signature, shape, adds);
  const dnnl::matmul::primitive_desc description({a.given(), wanted_b, y}, after.attributes,
                                                 onednn::Engine());
  return MakeKernel(signature, options, description, b, after.operands, after.summed);
}

constexpr std::array kKernels = {OnednnKernel{"MatMul", onednn::Make<BuildMatmul>, nullptr, true},
                                 OnednnKernel{"Gemm", onednn::Make<BuildGemm>, nullptr, true}};

}  // namespace

std::span<const OnednnKernel> MatmulOnednnKernels() { return kKernels; }

}  // namespace tinyprof
