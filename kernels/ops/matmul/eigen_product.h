// The matrix product of the family as a part of other families' kernels.
#pragma once

#include <array>

#include "kernels/ops/kernel.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// C (batch x m x n) = A (batch x m x k) B (batch x k x n): what a MatMul node of those shapes
// runs. One thread at a time may run it.
class BatchedProduct {
 public:
  // UNIMPLEMENTED / "NO_KERNEL" for more elements than a tensor may have.
  static Result<BatchedProduct> Create(int64_t batch, int64_t m, int64_t n, int64_t k, int threads);

  std::string implementation() const { return kernel_->implementation(); }
  int64_t scratch_bytes() const { return kernel_->scratch_bytes(); }
  void Run(const float* a, const float* b, float* c, std::span<std::byte> scratch) const;

 private:
  std::unique_ptr<Kernel> kernel_;
  // Made ahead, since Run must not allocate.
  mutable std::array<ConstTensorView, 2> inputs_;
  mutable std::array<TensorView, 1> outputs_;
};

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
