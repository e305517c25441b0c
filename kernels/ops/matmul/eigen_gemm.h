// Single-precision matrix products on row-major matrices, by Eigen's packed kernel, without
// allocation.
//
// Eigen's own products allocate their packing buffers on every call; these take them from the
// caller's scratch. All families use this one, so that Eigen's kernel is compiled once for each
// ISA.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// A row-major matrix whose rows lie `stride` elements apart; `transposed`: the product uses its
// transpose.
struct GemmOperand {
  const float* data = nullptr;
  int64_t stride = 0;
  bool transposed = false;
};

struct GemmSize {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t mac_count() const { return m * n * k; }
};

// Cache blocks for C (m x n) += alpha * A (m x k) * B (k x n) by one thread.
class GemmBlocking {
 public:
  GemmBlocking() = default;
  // For products of at most this size.
  explicit GemmBlocking(GemmSize largest);

  // The part of k that one pass over the packed blocks takes.
  int64_t depth() const { return kc_; }
  // 64-byte aligned memory that Run needs; each thread its own.
  int64_t scratch_bytes() const;
  // `c` has n columns and rows `c_stride` apart. A zero in `size` adds nothing.
  void Run(GemmSize size, GemmOperand a, GemmOperand b, float* c, int64_t c_stride, float alpha,
           std::byte* scratch) const;
  // The same with alpha 1 and an A that Pack() arranged for a product of this size; `size.k` is at
  // most depth(), B is not transposed.
  void RunPacked(GemmSize size, const float* packed_a, GemmOperand b, float* c, int64_t c_stride,
                 std::byte* scratch) const;
  // Writes A, m x k and not transposed, as m * k elements to `packed`.
  static void Pack(int64_t m, int64_t k, GemmOperand a, float* packed);

 private:
  // By Eigen's names, which see the product column-major: its left operand is our B.
  int64_t mc_ = 0;
  int64_t nc_ = 0;
  int64_t kc_ = 0;
};

// The product by a team: one matrix is cut along its longer side. Inside of no parallel region.
class TeamGemm {
 public:
  TeamGemm() = default;
  TeamGemm(GemmSize size, int threads);

  int64_t scratch_bytes() const { return blocking_.scratch_bytes() * threads_; }
  void Run(GemmOperand a, GemmOperand b, float* c, int64_t c_stride, float alpha,
           std::byte* scratch) const;

 private:
  GemmSize size_;
  int threads_ = 1;
  bool split_columns_ = true;
  GemmBlocking blocking_;
};

// y[0..n) += alpha * x[0..k) * B, streaming B once: what a product with m = 1 is. One thread.
void Gemv(int64_t n, int64_t k, const float* x, GemmOperand b, float* y, float alpha);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
