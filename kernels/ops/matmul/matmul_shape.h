// The sizes behind a MatMul or Gemm node.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/graph/graph.h"
#include "kernels/ops/checks.h"

namespace tinyprof {

// Y (m x n) = A (m x k) * B (k x n), once for each of `batch_count` matrices.
struct MatmulShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t batch_count = 1;
  Shape output;

  // Elements from the start of A (B) to its matrix number `batch`. Broadcast dimensions have
  // stride 0.
  int64_t a_offset(int64_t batch) const { return Offset(batch, a_strides); }
  int64_t b_offset(int64_t batch) const { return Offset(batch, b_strides); }

  size_t batch_rank = 0;
  std::array<int64_t, kMaxRank> batch_dims{};
  std::array<int64_t, kMaxRank> a_strides{};
  std::array<int64_t, kMaxRank> b_strides{};

 private:
  int64_t Offset(int64_t batch, const std::array<int64_t, kMaxRank>& strides) const;
};

// Of a MatMul, by the rules of numpy.matmul: a 1-D operand is a row or a column that the result
// drops.
Result<MatmulShape> MatmulShapeOf(const NodeSignature& signature);

// Of a Gemm: Y = alpha * A' * B' + beta * C with C broadcast to m x n.
struct GemmShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  float alpha = 1;
  float beta = 1;
  bool has_bias = false;
  // Elements between rows and columns of C; 0 where it is broadcast.
  int64_t bias_row_stride = 0;
  int64_t bias_column_stride = 0;
};
Result<GemmShape> GemmShapeOf(const NodeSignature& signature);

}  // namespace tinyprof
