// The naive loop of an Einsum, as a template on the scalar.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/einsum/einsum.h"
#include "kernels/ops/elementwise/binary_functors.h"
#include "kernels/ops/kernel.h"

namespace tinyprof {

// The offset of combination `at` of the letters, the last one the fastest.
inline int64_t LetterOffset(const std::vector<int64_t>& lengths, const int64_t* strides,
                            int64_t at) {
  int64_t offset = 0;
  for (size_t d = lengths.size(); d-- > 0;) {
    offset += at % lengths[d] * strides[d];
    at /= lengths[d];
  }
  return offset;
}

template <class T>
void RunEinsum(const EinsumPlan& plan, const KernelArgs& args) {
  const auto element = [&](size_t operand, int64_t at, int64_t k) {
    const int64_t* strides = plan.strides[operand].data();
    return args.In<T>(operand)[LetterOffset(plan.kept, strides, at) +
                               LetterOffset(plan.summed, strides + plan.kept.size(), k)];
  };
  // The sum of products of two operands is counted as multiply-accumulates, which begin at 0.
  const bool accumulates = plan.strides.size() == 2;
  const int64_t kept_count = plan.kept_count();
  const int64_t summed_count = plan.summed_count();
  for (int64_t at = 0; at < kept_count; ++at) {
    T sum = T(0);
    for (int64_t k = 0; k < summed_count; ++k) {
      T product = element(0, at, k);
      for (size_t i = 1; i < plan.strides.size(); ++i) {
        product = Mul::Apply(product, element(i, at, k));
      }
      sum = k == 0 && !accumulates ? product : Add::Apply(sum, product);
    }
    args.Out<T>()[at] = sum;
  }
}

}  // namespace tinyprof
