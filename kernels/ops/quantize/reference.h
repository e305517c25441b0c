// The naive loop of products of integer matrices, as a template on the scalar; convolutions have
// that of conv/reference.h.
#pragma once

#include "kernels/ops/kernel.h"
#include "kernels/ops/matmul/matmul_shape.h"

namespace tinyprof {

// out = x w. On uint32_t it wraps around, as ConvReference<uint32_t> does.
template <class T>
void IntMatmulReference(const NodeSignature& product, const KernelArgs& args) {
  const MatmulShape shape = *MatmulShapeOf(product);
  for (int64_t batch = 0; batch < shape.batch_count; ++batch) {
    const T* a = args.In<T>(0) + shape.a_offset(batch);
    const T* b = args.In<T>(1) + shape.b_offset(batch);
    T* out = args.Out<T>() + batch * shape.m * shape.n;
    for (int64_t i = 0; i < shape.m; ++i) {
      for (int64_t j = 0; j < shape.n; ++j) out[i * shape.n + j] = T(0);
      for (int64_t k = 0; k < shape.k; ++k) {
        const T factor = a[i * shape.k + k];
        for (int64_t j = 0; j < shape.n; ++j) out[i * shape.n + j] += factor * b[k * shape.n + j];
      }
    }
  }
}

}  // namespace tinyprof
