#include "kernels/ops/matmul/eigen_gemm.h"

#include <Eigen/Core>
#include <algorithm>

#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

using Eigen::ColMajor;
using Eigen::Index;
using Eigen::RowMajor;

// A vector register of the widest ISA, a cache line, and the alignment of all scratch.
constexpr int64_t kLineFloats = 16;
// Columns that Eigen's widest kernel handles at once; a cut elsewhere leaves it a slow remainder.
constexpr int64_t kPanelColumns = 48;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Cache blocks and packing memory that belong to the caller.
class BorrowedBlocking : public Eigen::internal::level3_blocking<float, float> {
 public:
  BorrowedBlocking(Index mc, Index nc, Index kc, float* block_a, float* block_b) {
    m_mc = mc;
    m_nc = nc;
    m_kc = kc;
    m_blockA = block_a;
    m_blockB = block_b;
  }
};

template <int kLeftOrder, int kRightOrder>
void RunColumnMajor(GemmSize size, const GemmOperand& left, const GemmOperand& right, float* c,
                    int64_t c_stride, float alpha, BorrowedBlocking& blocking) {
  Eigen::internal::general_matrix_matrix_product<Index, float, kLeftOrder, false, float,
                                                 kRightOrder, false, ColMajor,
                                                 1>::run(size.n, size.m, size.k, left.data,
                                                         left.stride, right.data, right.stride, c,
                                                         1, c_stride, alpha, blocking, nullptr);
}

// The pieces of Eigen's products, which it puts together in general_matrix_matrix_product.
using Traits = Eigen::internal::gebp_traits<float, float>;
using Operand = Eigen::internal::const_blas_data_mapper<float, Index, ColMajor>;
using Result = Eigen::internal::blas_data_mapper<float, Index, ColMajor, Eigen::Unaligned, 1>;
using PackLeft =
    Eigen::internal::gemm_pack_lhs<float, Index, Operand, Traits::mr, Traits::LhsProgress,
                                   Traits::LhsPacket4Packing, ColMajor>;
using PackRight = Eigen::internal::gemm_pack_rhs<float, Index, Operand, Traits::nr, ColMajor>;
using Panels =
    Eigen::internal::gebp_kernel<float, float, Index, Result, Traits::mr, Traits::nr, false, false>;

}  // namespace

GemmBlocking::GemmBlocking(GemmSize largest) : mc_(largest.n), nc_(largest.m), kc_(largest.k) {
  Index mc = mc_, nc = nc_, kc = kc_;
  if (largest.mac_count() > 0) {
    Eigen::internal::computeProductBlockingSizes<float, float>(kc, mc, nc, Index{1});
  }
  mc_ = mc;
  nc_ = nc;
  kc_ = kc;
}

int64_t GemmBlocking::scratch_bytes() const {
  const int64_t floats = RoundUp(kc_ * mc_, kLineFloats) + RoundUp(kc_ * nc_, kLineFloats);
  return floats * static_cast<int64_t>(sizeof(float));
}

void GemmBlocking::Run(GemmSize size, GemmOperand a, GemmOperand b, float* c, int64_t c_stride,
                       float alpha, std::byte* scratch) const {
  if (size.m == 0 || size.n == 0 || size.k == 0) return;
  auto* block_a = reinterpret_cast<float*>(scratch);
  float* block_b = block_a + RoundUp(kc_ * mc_, kLineFloats);
  BorrowedBlocking blocking(mc_, nc_, std::min(kc_, size.k), block_a, block_b);
  // Row-major C = A B is column-major C^T = B^T A^T, and a row-major matrix read column-major is
  // its transpose already.
  if (b.transposed) {
    if (a.transposed) {
      RunColumnMajor<RowMajor, RowMajor>(size, b, a, c, c_stride, alpha, blocking);
    } else {
      RunColumnMajor<RowMajor, ColMajor>(size, b, a, c, c_stride, alpha, blocking);
    }
  } else if (a.transposed) {
    RunColumnMajor<ColMajor, RowMajor>(size, b, a, c, c_stride, alpha, blocking);
  } else {
    RunColumnMajor<ColMajor, ColMajor>(size, b, a, c, c_stride, alpha, blocking);
  }
}

void GemmBlocking::Pack(int64_t m, int64_t k, GemmOperand a, float* packed) {
  PackRight()(packed, Operand(a.data, a.stride), k, m);
}

void GemmBlocking::RunPacked(GemmSize size, const float* packed_a, GemmOperand b, float* c,
                             int64_t c_stride, std::byte* scratch) const {
  auto* block = reinterpret_cast<float*>(scratch);
  const Operand left(b.data, b.stride);
  const Result result(c, c_stride);
  // Columns of A' are packed nr at a time, so that a block of them may begin at such a border only.
  const Index step = nc_ >= size.m ? size.m : std::max<Index>(nc_ / Traits::nr, 1) * Traits::nr;
  for (Index i = 0; i < size.n; i += mc_) {
    const Index rows = std::min<Index>(mc_, size.n - i);
    PackLeft()(block, left.getSubMapper(i, 0), size.k, rows);
    for (Index j = 0; j < size.m; j += step) {
      Panels()(result.getSubMapper(i, j), block, packed_a + j * size.k, rows, size.k,
               std::min<Index>(step, size.m - j), 1.0F);
    }
  }
}

TeamGemm::TeamGemm(GemmSize size, int threads)
    : size_(size),
      threads_(ThreadsFor(size.mac_count() / 16, threads)),
      split_columns_(size.n >= kPanelColumns * threads_ || size.n >= size.m) {
  GemmSize part = size;
  if (split_columns_) {
    part.n = std::min(size.n, RoundUp((size.n + threads_ - 1) / threads_, kPanelColumns));
  } else {
    part.m = (size.m + threads_ - 1) / threads_;
  }
  blocking_ = GemmBlocking(part);
}

void TeamGemm::Run(GemmOperand a, GemmOperand b, float* c, int64_t c_stride, float alpha,
                   std::byte* scratch) const {
  const int64_t scratch_stride = blocking_.scratch_bytes();
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
  for (int thread = 0; thread < threads_; ++thread) {
    GemmSize part = size_;
    GemmOperand part_a = a;
    GemmOperand part_b = b;
    float* part_c = c;
    if (split_columns_) {
      const int64_t step = RoundUp((size_.n + threads_ - 1) / threads_, kPanelColumns);
      const int64_t begin = std::min(size_.n, step * thread);
      part.n = std::min(size_.n - begin, step);
      part_b.data += b.transposed ? begin * b.stride : begin;
      part_c += begin;
    } else {
      const Partition rows = PartOf(size_.m, thread, threads_);
      part.m = rows.end - rows.begin;
      part_a.data += a.transposed ? rows.begin : rows.begin * a.stride;
      part_c += rows.begin * c_stride;
    }
    blocking_.Run(part, part_a, part_b, part_c, c_stride, alpha, scratch + thread * scratch_stride);
  }
}

void Gemv(int64_t n, int64_t k, const float* x, GemmOperand b, float* y, float alpha) {
  if (n == 0 || k == 0) return;
  using Stride = Eigen::OuterStride<>;
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, RowMajor>;
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
