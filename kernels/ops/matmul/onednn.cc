// MatMul and Gemm on oneDNN.
#include <array>

#include "kernels/ops/matmul/matmul_shape.h"
#include "kernels/ops/onednn_families.h"
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
                        std::vector<onednn::Operand> others) {
  others.push_back(onednn::Input(DNNL_ARG_SRC, 0, description.src_desc()));
  others.push_back(onednn::Weight(DNNL_ARG_WEIGHTS, 1, b.given(), description.weights_desc()));
  others.push_back(onednn::Output(DNNL_ARG_DST, 0, description.dst_desc()));
  return std::make_unique<onednn::PrimitiveKernel>(description, dnnl::matmul(description), others,
                                                   signature, options.threads);
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

KernelResult BuildMatmul(const NodeSignature& signature, const OnednnOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(MatmulShape shape, MatmulShapeOf(signature));
  FoldBatch(shape);
  const Stack a = WithBatch(shape, shape.a_strides, Matrix(shape.m, shape.k, false));
  const Stack b = WithBatch(shape, shape.b_strides, Matrix(shape.k, shape.n, false));
  Dims y(shape.batch_dims.begin(),
         shape.batch_dims.begin() + static_cast<std::ptrdiff_t>(shape.batch_rank));
  y.insert(y.end(), {shape.m, shape.n});
  const dnnl::matmul::primitive_desc description(
      {a.given(), IsPacked(signature, shape.m) ? onednn::Free(b.dims) : b.given(),
       onednn::Plain(y)},
      onednn::Attributes(), onednn::Engine());
  return MakeKernel(signature, options, description, b, {});
}

Desc BiasOf(const GemmShape& shape) {
  return onednn::Plain(
      {shape.bias_row_stride == 0 ? 1 : shape.m, shape.bias_column_stride == 0 ? 1 : shape.n});
}

// alpha A'B' + beta C as beta (alpha / beta A'B' + C), since what the library adds after a product
// has no factor of its own.
dnnl::primitive_attr ScaledAndAdded(const GemmShape& shape, bool adds) {
  dnnl::primitive_attr attributes = onednn::Attributes();
  const float scale = adds ? shape.alpha / shape.beta : shape.alpha;
  if (scale != 1) attributes.set_output_scales(0, {scale});
  if (!adds) return attributes;
  dnnl::post_ops after;
  after.append_binary(dnnl::algorithm::binary_add, BiasOf(shape));
  if (shape.beta != 1) {
    after.append_eltwise(1, dnnl::algorithm::eltwise_linear, shape.beta, 0);
  }
  attributes.set_post_ops(after);
  return attributes;
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
    const dnnl::matmul::primitive_desc description({a.given(), wanted_b, BiasOf(shape), y},
                                                   onednn::Attributes(), onednn::Engine());
    return MakeKernel(signature, options, description, b,
                      {onednn::Input(DNNL_ARG_BIAS, 2, BiasOf(shape))});
  }
  const dnnl::matmul::primitive_desc description({a.given(), wanted_b, y},
                                                 ScaledAndAdded(shape, adds), onednn::Engine());
  if (!adds) return MakeKernel(signature, options, description, b, {});
  return MakeKernel(
      signature, options, description, b,
      {onednn::Input(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, 2, BiasOf(shape))});
}

constexpr std::array kKernels = {OnednnKernel{"MatMul", onednn::Make<BuildMatmul>},
                                 OnednnKernel{"Gemm", onednn::Make<BuildGemm>}};

}  // namespace

std::span<const OnednnKernel> MatmulOnednnKernels() { return kKernels; }

}  // namespace tinyprof
