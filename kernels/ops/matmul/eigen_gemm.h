// Single-precision matrix products on row-major matrices, without allocation.
//
// Eigen's own products allocate their packing buffers on every call, and built by gcc reach some
// 75 % of the FMA peak; these take the buffers from the caller's scratch, use Eigen's packets with
// loops of their own (eigen_panels.h), and can have weights packed ahead of the run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// A row-major matrix whose rows lie `stride` elements apart; `transposed`: the product uses its
// transpose.
struct GemmOperand {
  const float* data = nullptr;
  int64_t stride = 0;
  bool transposed = false;

  // What begins at this row and column of it, as the product uses it.
  GemmOperand From(int64_t row, int64_t column) const {
    return {data + (transposed ? column * stride + row : row * stride + column), stride,
            transposed};
  }
};

struct GemmSize {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t mac_count() const { return m * n * k; }
};

// What becomes of what C holds: the product is added to it or takes its place.
enum class Update { kAdd, kSet };

// Cache blocks for C (m x n) += or = alpha * A (m x k) * B (k x n) by one thread.
class GemmBlocking {
 public:
  GemmBlocking() = default;
  // For products of at most this size.
  explicit GemmBlocking(GemmSize largest);

  // 64-byte aligned memory that Run and RunPackedB need; each thread its own.
  int64_t scratch_bytes() const;
  // `c` has n columns and rows `c_stride` apart.
  void Run(GemmSize size, GemmOperand a, GemmOperand b, float* c, int64_t c_stride, float alpha,
           Update update, std::byte* scratch) const;

  // Floats of a B, k x n, that is packed whole.
  static int64_t PackedBFloats(int64_t k, int64_t n);
  // Writes them.
  void PackB(int64_t k, int64_t n, GemmOperand b, float* packed) const;
  // Run with columns [first, first + size.n) of a packed B of `b_columns`; `first` is a multiple of
  // kPanelColumns (eigen_panels.h).
  void RunPackedB(GemmSize size, GemmOperand a, const float* packed, int64_t b_columns,
                  int64_t first, float* c, int64_t c_stride, float alpha, Update update,
                  std::byte* scratch) const;

 private:
  // The same, where `panels_of_b` gives the panels of B's rows [k, k + depth) and columns
  // [j, j + columns).
  template <class PanelsOfB>
  void RunBlocks(GemmSize size, GemmOperand a, const PanelsOfB& panels_of_b, float* c,
                 int64_t c_stride, float alpha, Update update, float* a_panels) const;

  GemmSize block_;
};

// The product by a team: one matrix is cut along its longer side. Inside of no parallel region.
class TeamGemm {
 public:
  TeamGemm() = default;
  TeamGemm(GemmSize size, int threads);

  int64_t scratch_bytes() const { return blocking_.scratch_bytes() * threads_; }
  void Run(GemmOperand a, GemmOperand b, float* c, int64_t c_stride, float alpha, Update update,
           std::byte* scratch) const;

  // Memory of a B that is packed ahead, written by PackB and read by RunPackedB.
  int64_t packed_b_bytes() const;
  void PackB(GemmOperand b, float* packed) const { blocking_.PackB(size_.k, size_.n, b, packed); }
  void RunPackedB(GemmOperand a, const float* packed, float* c, int64_t c_stride, float alpha,
                  Update update, std::byte* scratch) const;

 private:
  // The part of the product that a thread does: its rows or its columns of C.
  struct Part {
    Partition rows;
    Partition columns;
  };
  Part PartOfThread(int thread) const;

  GemmSize size_;
  int threads_ = 1;
  bool split_columns_ = true;
  GemmBlocking blocking_;
};

// y[0..n) += alpha * x[0..k) * B, streaming B once: what a product with m = 1 is. One thread.
void Gemv(int64_t n, int64_t k, const float* x, GemmOperand b, float* y, float alpha);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
