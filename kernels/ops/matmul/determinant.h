// Det: the determinants of square matrices, by elimination with the largest pivot of each column.
//
// For n x n: (n - 1) n (2n - 1) / 6 multiply-accumulates, n (n - 1) / 2 divisions and n - 1
// multiplications of pivots. To look for pivots and to change signs costs no FLOP. A matrix whose
// elimination ends early, because a column holds zeros only, is counted whole.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/ops/op.h"

namespace tinyprof {

Result<std::vector<TensorType>> InferDet(const NodeSignature& signature, size_t output_count);
Result<Cost> DetCost(const NodeSignature& signature);
template <class T>
Result<std::unique_ptr<Kernel>> MakeDet(const NodeSignature& signature,
                                        const KernelOptions& options);

// Of the `size` x `size` row-major matrix, which is overwritten.
template <class T>
T DeterminantOf(int64_t size, T* matrix) {
  using std::fabs;
  const auto row = [&](int64_t i) { return matrix + i * size; };
  T product = T(1);
  for (int64_t k = 0; k < size; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < size; ++i) {
      if (fabs(row(i)[k]) > fabs(row(best)[k])) best = i;
    }
    const T pivot = row(best)[k];
    if (pivot == T(0)) return T(0);
    if (best != k) std::swap_ranges(row(k), row(k) + size, row(best));
    const T factor = best == k ? pivot : -pivot;
    product = k == 0 ? factor : product * factor;
    for (int64_t i = k + 1; i < size; ++i) {
      const T share = row(i)[k] / pivot;
      for (int64_t j = k + 1; j < size; ++j) row(i)[j] -= share * row(k)[j];
    }
  }
  return product;
}

}  // namespace tinyprof
