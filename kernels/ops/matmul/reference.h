// The naive loops of MatMul and Gemm.
#pragma once

#include "kernels/ops/matmul/matmul_shape.h"
#include "kernels/ops/reference_kernel.h"

namespace tinyprof {

template <class T>
void MatmulReference(const NodeSignature& signature, const KernelArgs& args) {
  const MatmulShape shape = *MatmulShapeOf(signature);
  T* out = args.Out<T>();
  for (int64_t batch = 0; batch < shape.batch_count; ++batch) {
    const T* a = args.In<T>(0) + shape.a_offset(batch);
    const T* b = args.In<T>(1) + shape.b_offset(batch);
    for (int64_t row = 0; row < shape.m; ++row) {
      for (int64_t column = 0; column < shape.n; ++column) {
        T sum(0);
        for (int64_t i = 0; i < shape.k; ++i) sum += a[row * shape.k + i] * b[i * shape.n + column];
        *out++ = sum;
      }
    }
  }
}

template <class T>
void GemmReference(const NodeSignature& signature, const KernelArgs& args) {
  const GemmShape shape = *GemmShapeOf(signature);
  const T* a = args.In<T>(0);
  const T* b = args.In<T>(1);
  T* out = args.Out<T>();
  for (int64_t row = 0; row < shape.m; ++row) {
    for (int64_t column = 0; column < shape.n; ++column) {
      T sum(0);
      for (int64_t i = 0; i < shape.k; ++i) {
        const T left = shape.transpose_a ? a[i * shape.m + row] : a[row * shape.k + i];
        const T right = shape.transpose_b ? b[column * shape.k + i] : b[i * shape.n + column];
        sum += left * right;
      }
      if (shape.alpha != 1) sum *= T(shape.alpha);
      if (shape.has_bias) {
        const int64_t at = row * shape.bias_row_stride + column * shape.bias_column_stride;
        const T bias = args.In<T>(2)[at];
        sum += shape.beta == 1 ? bias : bias * T(shape.beta);
      }
      *out++ = sum;
    }
  }
}

}  // namespace tinyprof
