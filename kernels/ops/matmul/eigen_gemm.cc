#include "kernels/ops/matmul/eigen_gemm.h"

#include <Eigen/Core>
#include <algorithm>

#include "kernels/ops/matmul/eigen_panels.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// A vector register of the widest ISA, a cache line, and the alignment of all scratch.
constexpr int64_t kLineFloats = 16;

// Rows of A that are packed at once, a multiple of all kPanelRows.
constexpr int64_t kMaxRows = 192;
constexpr int64_t kMinColumns = 256;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RoundUp(int64_t value, int64_t multiple) { return CeilDiv(value, multiple) * multiple; }

// The size of equal parts of `whole`, none above `limit` and all but the last a multiple of `step`.
int64_t EvenPart(int64_t whole, int64_t limit, int64_t step) {
  if (whole <= limit) return whole;
  return RoundUp(CeilDiv(whole, CeilDiv(whole, limit)), step);
}

// Columns of B that are packed at once: half of a second-level cache.
int64_t MaxColumns(int64_t depth) {
  const int64_t floats = Eigen::l2CacheSize() / 2 / int64_t{sizeof(float)};
  return std::max(kMinColumns,
                  floats / std::max<int64_t>(depth, 1) / kPanelColumns * kPanelColumns);
}

}  // namespace

GemmBlocking::GemmBlocking(GemmSize largest) {
  block_.k = PanelDepth(largest.k);
  block_.m = EvenPart(largest.m, kMaxRows, kPanelRows);
  block_.n = EvenPart(largest.n, MaxColumns(block_.k), kPanelColumns);
}

int64_t GemmBlocking::scratch_bytes() const {
  const int64_t floats =
      RoundUp(block_.m * block_.k, kLineFloats) + PaddedColumns(block_.n) * block_.k;
  return RoundUp(floats, kLineFloats) * int64_t{sizeof(float)};
}

template <class PanelsOfB>
void GemmBlocking::RunBlocks(GemmSize size, GemmOperand a, const PanelsOfB& panels_of_b, float* c,
                             int64_t c_stride, float alpha, Update update, float* a_panels) const {
  if (size.k == 0 && update == Update::kSet) {
    for (int64_t i = 0; i < size.m; ++i) std::fill_n(c + i * c_stride, size.n, 0.0F);
  }
  for (int64_t j = 0; j < size.n; j += block_.n) {
    const int64_t columns = std::min(block_.n, size.n - j);
    for (int64_t k = 0; k < size.k; k += block_.k) {
      const int64_t depth = std::min(block_.k, size.k - k);
      const float* b_panels = panels_of_b(k, depth, j, columns);
      for (int64_t i = 0; i < size.m; i += block_.m) {
        const int64_t rows = std::min(block_.m, size.m - i);
        PackRows(rows, depth, a.From(i, k), alpha, a_panels);
        MultiplyPanels({rows, columns, depth}, a_panels, b_panels, c + i * c_stride + j, c_stride,
                       k == 0 ? update : Update::kAdd);
      }
    }
  }
}

void GemmBlocking::Run(GemmSize size, GemmOperand a, GemmOperand b, float* c, int64_t c_stride,
                       float alpha, Update update, std::byte* scratch) const {
  auto* a_panels = reinterpret_cast<float*>(scratch);
  float* b_panels = a_panels + RoundUp(block_.m * block_.k, kLineFloats);
  const auto pack = [&](int64_t k, int64_t depth, int64_t j, int64_t columns) {
    PackColumns(depth, columns, b.From(k, j), b_panels);
    return b_panels;
  };
  RunBlocks(size, a, pack, c, c_stride, alpha, update, a_panels);
}

int64_t GemmBlocking::PackedBFloats(int64_t k, int64_t n) { return k * PaddedColumns(n); }

void GemmBlocking::PackB(int64_t k, int64_t n, GemmOperand b, float* packed) const {
  for (int64_t i = 0; i < k; i += block_.k) {
    const int64_t depth = std::min(block_.k, k - i);
    PackColumns(depth, n, b.From(i, 0), packed + i * PaddedColumns(n));
  }
}

void GemmBlocking::RunPackedB(GemmSize size, GemmOperand a, const float* packed, int64_t b_columns,
                              int64_t first, float* c, int64_t c_stride, float alpha, Update update,
                              std::byte* scratch) const {
  const auto find = [&](int64_t k, int64_t depth, int64_t j, int64_t /*columns*/) {
    return packed + k * PaddedColumns(b_columns) + (first + j) * depth;
  };
  RunBlocks(size, a, find, c, c_stride, alpha, update, reinterpret_cast<float*>(scratch));
}

TeamGemm::TeamGemm(GemmSize size, int threads)
    : size_(size),
      threads_(ThreadsFor(size.mac_count() / 16, threads)),
      split_columns_(size.n >= kPanelColumns * threads_ || size.n >= size.m) {
  const Part largest = PartOfThread(0);
  blocking_ = GemmBlocking({largest.rows.end, largest.columns.end, size.k});
}

TeamGemm::Part TeamGemm::PartOfThread(int thread) const {
  if (!split_columns_) return {PartOf(size_.m, thread, threads_), {0, size_.n}};
  const int64_t step = RoundUp(CeilDiv(size_.n, threads_), kPanelColumns);
  return {{0, size_.m}, {std::min(size_.n, step * thread), std::min(size_.n, step * (thread + 1))}};
}

void TeamGemm::Run(GemmOperand a, GemmOperand b, float* c, int64_t c_stride, float alpha,
                   Update update, std::byte* scratch) const {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
  for (int thread = 0; thread < threads_; ++thread) {
    const auto [rows, columns] = PartOfThread(thread);
    blocking_.Run({rows.end - rows.begin, columns.end - columns.begin, size_.k},
                  a.From(rows.begin, 0), b.From(0, columns.begin),
                  c + rows.begin * c_stride + columns.begin, c_stride, alpha, update,
                  scratch + thread * blocking_.scratch_bytes());
  }
}

int64_t TeamGemm::packed_b_bytes() const {
  return GemmBlocking::PackedBFloats(size_.k, size_.n) * int64_t{sizeof(float)};
}

void TeamGemm::RunPackedB(GemmOperand a, const float* packed, float* c, int64_t c_stride,
                          float alpha, Update update, std::byte* scratch) const {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
  for (int thread = 0; thread < threads_; ++thread) {
    const auto [rows, columns] = PartOfThread(thread);
    blocking_.RunPackedB({rows.end - rows.begin, columns.end - columns.begin, size_.k},
                         a.From(rows.begin, 0), packed, size_.n, columns.begin,
                         c + rows.begin * c_stride + columns.begin, c_stride, alpha, update,
                         scratch + thread * blocking_.scratch_bytes());
  }
}

void Gemv(int64_t n, int64_t k, const float* x, GemmOperand b, float* y, float alpha) {
  if (n == 0 || k == 0) return;
  using Stride = Eigen::OuterStride<>;
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Eigen::VectorXf> vector(x, k);
  Eigen::Map<Eigen::VectorXf> result(y, n);
  if (b.transposed) {
    result.noalias() +=
        alpha * (Eigen::Map<const Rows, 0, Stride>(b.data, n, k, Stride(b.stride)) * vector);
  } else {
    result.noalias() +=
        alpha *
        (Eigen::Map<const Eigen::MatrixXf, 0, Stride>(b.data, n, k, Stride(b.stride)) * vector);
  }
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
