#include "kernels/ops/matmul/matmul_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace tinyprof {
namespace {

Status CheckOperands(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  return CheckSameDType(signature, 0, 1);
}

Status CheckInner(const NodeSignature& signature, int64_t from_a, int64_t from_b) {
  if (from_a == from_b) return {};
  return ShapeMismatch(
      signature, fmt::format("{} and {} cannot be multiplied: the inner dimensions are {} and {}",
                             signature.input(0).shape.ToString(),
                             signature.input(1).shape.ToString(), from_a, from_b));
}

// The strides of an operand's batch dimensions, aligned to the right of `batch`.
void SetStrides(const Shape& operand, const Shape& batch, std::array<int64_t, kMaxRank>& strides) {
  if (operand.rank() < 3) return;
  const size_t operand_batch_rank = operand.rank() - 2;
  const size_t skipped = batch.rank() - operand_batch_rank;
  for (size_t i = 0; i < operand_batch_rank; ++i) {
    strides[skipped + i] = operand[i] == 1 ? 0 : operand.stride(i);
  }
}

Shape BatchOf(const Shape& operand) {
  if (operand.rank() < 3) return {};
  return Shape(std::vector<int64_t>(operand.dims().begin(), operand.dims().end() - 2));
}

Status SetBias(const NodeSignature& signature, GemmShape& shape) {
  shape.has_bias = signature.has_input(2);
  if (!shape.has_bias) return {};
  const Shape& bias = signature.input(2).shape;
  const int64_t rows = bias.rank() >= 2 ? bias.back(1) : 1;
  const int64_t columns = bias.rank() >= 1 ? bias.back(0) : 1;
  if (bias.rank() > 2 || (rows != 1 && rows != shape.m) || (columns != 1 && columns != shape.n)) {
    return ShapeMismatch(signature,
                         fmt::format("C has shape {}, which cannot be broadcast to {}x{}",
                                     bias.ToString(), shape.m, shape.n));
  }
  shape.bias_row_stride = rows == 1 ? 0 : columns;
  shape.bias_column_stride = columns == 1 ? 0 : 1;
  return {};
}

}  // namespace

int64_t MatmulShape::Offset(int64_t batch, const std::array<int64_t, kMaxRank>& strides) const {
  int64_t offset = 0;
  for (size_t i = batch_rank; i-- > 0;) {
    offset += batch % batch_dims[i] * strides[i];
    batch /= batch_dims[i];
  }
  return offset;
}

Result<MatmulShape> MatmulShapeOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckOperands(signature));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 1, 1));
  const Shape& a = signature.input(0).shape;
  const Shape& b = signature.input(1).shape;
  MatmulShape shape;
  shape.m = a.rank() == 1 ? 1 : a.back(1);
  shape.k = a.back();
  shape.n = b.rank() == 1 ? 1 : b.back();
  TINYPROF_RETURN_IF_ERROR(CheckInner(signature, shape.k, b.rank() == 1 ? b.back() : b.back(1)));

  const Result<Shape> batch = Broadcast(BatchOf(a), BatchOf(b));
  if (!batch) return ShapeMismatch(signature, batch.error().message);
  shape.batch_count = batch->element_count();
  shape.batch_rank = batch->rank();
  std::copy(batch->dims().begin(), batch->dims().end(), shape.batch_dims.begin());
  SetStrides(a, *batch, shape.a_strides);
  SetStrides(b, *batch, shape.b_strides);

  std::vector<int64_t> output = batch->dims();
  if (a.rank() > 1) output.push_back(shape.m);
  if (b.rank() > 1) output.push_back(shape.n);
  TINYPROF_ASSIGN_OR_RETURN(shape.output, Shape::Create(std::move(output)));
  return shape;
}

Result<GemmShape> GemmShapeOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckOperands(signature));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 2, 2));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 1, 2, 2));
  GemmShape shape;
  shape.transpose_a = signature.Int("transA", 0) != 0;
  shape.transpose_b = signature.Int("transB", 0) != 0;
  shape.alpha = signature.Float("alpha", 1);
  shape.beta = signature.Float("beta", 1);
  const Shape& a = signature.input(0).shape;
  const Shape& b = signature.input(1).shape;
  shape.m = a[shape.transpose_a ? 1 : 0];
  shape.k = a[shape.transpose_a ? 0 : 1];
  shape.n = b[shape.transpose_b ? 0 : 1];
  TINYPROF_RETURN_IF_ERROR(CheckInner(signature, shape.k, b[shape.transpose_b ? 1 : 0]));
  TINYPROF_RETURN_IF_ERROR(SetBias(signature, shape));
  return shape;
}

}  // namespace tinyprof
