// Attention on Eigen: a block of queries of one head at a time, all its scores in scratch.
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <limits>

#include "kernels/ops/attention/attention.h"
#include "kernels/ops/eigen_families.h"
#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/matmul/eigen_gemm.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/softmax/eigen_softmax.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// Queries that share one pass over the keys: their scores stay in the L2 cache for common lengths.
constexpr int64_t kQueryBlock = 64;
constexpr int64_t kScratchAlignment = 64;

int64_t Aligned(int64_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

class AttentionKernel final : public Kernel {
 public:
  AttentionKernel(const NodeSignature& signature, const KernelOptions& options)
      : dims_(AttentionDimsOf(signature)),
        block_(std::min(kQueryBlock, dims_.queries)),
        blocks_per_head_((dims_.queries + kQueryBlock - 1) / kQueryBlock),
        scores_product_({block_, dims_.keys, dims_.depth}),
        values_product_({block_, dims_.value_depth, dims_.keys}),
        threads_(ThreadsFor(dims_.head_count() * dims_.queries * dims_.keys, options.threads)) {}
  std::string implementation() const override { return "gemm+softmax+gemm"; }
  int64_t scratch_bytes() const override { return thread_scratch_bytes() * threads_; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      std::byte* scratch = args.scratch.data() + part * thread_scratch_bytes();
      const Partition range = PartOf(dims_.head_count() * blocks_per_head_, part, threads_);
      for (int64_t i = range.begin; i < range.end; ++i) AttendBlock(args, i, scratch);
    }
  }

 private:
  int64_t scores_bytes() const {
    return Aligned(block_ * dims_.keys * static_cast<int64_t>(sizeof(float)));
  }
  int64_t thread_scratch_bytes() const {
    return scores_bytes() +
           Aligned(std::max(scores_product_.scratch_bytes(), values_product_.scratch_bytes()));
  }

  void AttendBlock(const KernelArgs& args, int64_t index, std::byte* scratch) const {
    const int64_t head = index / blocks_per_head_;
    const int64_t b = head / dims_.heads;
    const int64_t h = head % dims_.heads;
    const int64_t first = index % blocks_per_head_ * kQueryBlock;
    const int64_t rows = std::min(kQueryBlock, dims_.queries - first);
    auto* scores = reinterpret_cast<float*>(scratch);
    std::byte* packing = scratch + scores_bytes();

    Multiply(scores_product_, {rows, dims_.keys, dims_.depth},
             {args.In<float>(0) + dims_.q_offset(b, h) + first * dims_.q.row, dims_.q.row, false},
             {args.In<float>(1) + dims_.k_offset(b, h), dims_.k.row, true}, scores, dims_.keys,
             dims_.scale, packing);
    for (int64_t i = 0; i < rows; ++i) {
      const float* mask =
          args.has_input(3) ? args.In<float>(3) + dims_.mask_offset(b, h, first + i) : nullptr;
      FinishRow(mask, first + i, scores + i * dims_.keys);
    }
    float* y = args.Out<float>() + dims_.y_offset(b, h) + first * dims_.y.row;
    Multiply(values_product_, {rows, dims_.value_depth, dims_.keys}, {scores, dims_.keys, false},
             {args.In<float>(2) + dims_.v_offset(b, h), dims_.v.row, false}, y, dims_.y.row, 1,
             packing);
  }

  // c = alpha * A B; a single query, as in decoding, reads keys and values once without packing.
  static void Multiply(const GemmBlocking& product, GemmSize size, GemmOperand a, GemmOperand b,
                       float* c, int64_t c_stride, float alpha, std::byte* packing) {
    if (size.m == 1) {
      std::fill_n(c, size.n, 0.0F);
      Gemv(size.n, size.k, a.data, b, c, alpha);
    } else {
      product.Run(size, a, b, c, c_stride, alpha, Update::kSet, packing);
    }
  }

  // Masks one row of scores and makes it probabilities. The whole row is worked on, as a dense
  // kernel does: what a causal query does not see has probability 0.
  void FinishRow(const float* mask, int64_t query, float* scores) const {
    if (mask != nullptr && dims_.mask_strides[3] == 0) {
      FloatRow(scores, dims_.keys) += *mask;
    } else if (mask != nullptr) {
      FloatRow(scores, dims_.keys) += ConstFloatRow(mask, dims_.keys);
    }
    std::fill(scores + dims_.visible_keys(query), scores + dims_.keys,
              -std::numeric_limits<float>::infinity());
    SoftmaxContiguous(scores, scores, dims_.keys);
  }

  AttentionDims dims_;
  int64_t block_;
  int64_t blocks_per_head_;
  GemmBlocking scores_product_;
  GemmBlocking values_product_;
  int threads_;
};

constexpr std::array kKernels = {EigenKernel{"Attention", &MakeFloatKernel<AttentionKernel>}};

}  // namespace

std::span<const EigenKernel> AttentionEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
