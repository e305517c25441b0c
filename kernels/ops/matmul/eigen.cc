// MatMul and Gemm on Eigen.
#include <algorithm>
#include <array>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/elementwise/eigen_epilogue.h"
#include "kernels/ops/matmul/eigen_gemm.h"
#include "kernels/ops/matmul/matmul_shape.h"
#include "kernels/ops/packing_kernel.h"
#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// Columns of B that a thread of the vector product takes at once: whole cache lines of every row.
constexpr int64_t kGemvColumns = 16;

// y += alpha * x B by the team, each thread a range of columns.
void TeamGemv(int64_t n, int64_t k, const float* x, GemmOperand b, float* y, float alpha,
              int threads) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int thread = 0; thread < threads; ++thread) {
    const Partition blocks = PartOf((n + kGemvColumns - 1) / kGemvColumns, thread, threads);
    const int64_t begin = std::min(n, blocks.begin * kGemvColumns);
    const int64_t end = std::min(n, blocks.end * kGemvColumns);
    GemmOperand part = b;
    part.data += b.transposed ? begin * b.stride : begin;
    Gemv(end - begin, k, x, part, y + begin, alpha);
  }
}

// One matrix product by the whole team: the vector product when A is a row or B a column.
class Product {
 public:
  Product() = default;
  // `weights` is the B of every run where it is known ahead, or null: it is then packed once.
  Product(GemmSize size, bool transpose_a, bool transpose_b, const float* weights, float alpha,
          int threads)
      : size_(size),
        transpose_a_(transpose_a),
        transpose_b_(transpose_b),
        weights_(weights),
        alpha_(alpha),
        threads_(ThreadsFor(size.mac_count() / 16, threads)) {
    if (!is_vector()) gemm_ = TeamGemm(size, threads);
  }

  bool is_vector() const { return size_.m == 1 || size_.n == 1; }
  int64_t scratch_bytes() const { return is_vector() ? 0 : gemm_.scratch_bytes(); }
  int64_t packed_bytes() const {
    return is_vector() || weights_ == nullptr ? 0 : gemm_.packed_b_bytes();
  }
  void Pack(std::span<std::byte> packed) {
    packed_ = reinterpret_cast<float*>(packed.data());
    gemm_.PackB(RightOperand(weights_), packed_);
  }
  // c = alpha * A' B', or c += that.
  void Run(const float* a, const float* b, float* c, Update update, std::byte* scratch) const {
    const GemmOperand right = RightOperand(b);
    const GemmOperand left{a, transpose_a_ ? size_.m : size_.k, transpose_a_};
    if (is_vector() && update == Update::kSet) std::fill_n(c, size_.m * size_.n, 0.0F);
    if (size_.m == 1) return TeamGemv(size_.n, size_.k, a, right, c, alpha_, threads_);
    if (size_.n == 1) {
      // A column: the transpose of the product is x^T A^T.
      return TeamGemv(size_.m, size_.k, b, {a, left.stride, !transpose_a_}, c, alpha_, threads_);
    }
    if (packed_ != nullptr) {
      return gemm_.RunPackedB(left, packed_, c, size_.n, alpha_, update, scratch);
    }
    gemm_.Run(left, right, c, size_.n, alpha_, update, scratch);
  }

 private:
  GemmOperand RightOperand(const float* b) const {
    return {b, transpose_b_ ? size_.k : size_.n, transpose_b_};
  }

  GemmSize size_;
  bool transpose_a_ = false;
  bool transpose_b_ = false;
  const float* weights_ = nullptr;
  float* packed_ = nullptr;
  float alpha_ = 1;
  int threads_ = 1;
  TeamGemm gemm_;
};

// Runs on `count` elements of the output from `begin` on, by the team.
void RunEpilogue(const Epilogue& epilogue, const KernelArgs& args, int64_t begin, int64_t count,
                 int64_t row_length, int team) {
  if (epilogue.is_empty()) return;
  const int threads = ThreadsFor(count, team);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int thread = 0; thread < threads; ++thread) {
    const Partition part = PartOf(count, thread, threads);
    epilogue.RunOnRows(args, begin + part.begin, part.end - part.begin, row_length);
  }
}

class GemmKernel final : public PackingKernel {
 public:
  GemmKernel(const GemmShape& shape, const float* weights, const Epilogue& epilogue, int threads)
      : shape_(shape),
        epilogue_(epilogue),
        threads_(threads),
        product_({shape.m, shape.n, shape.k}, shape.transpose_a, shape.transpose_b, weights,
                 shape.alpha, threads) {}
  std::string implementation() const override { return product_.is_vector() ? "gemv" : "gemm"; }
  int64_t scratch_bytes() const override { return product_.scratch_bytes(); }
  int64_t packed_bytes() const override { return product_.packed_bytes(); }
  Status Pack(std::span<std::byte> packed) override {
    product_.Pack(packed);
    return {};
  }
  void Run(const KernelArgs& args) const noexcept override {
    float* out = args.Out<float>();
    for (int64_t row = 0; shape_.has_bias && row < shape_.m; ++row) {
      FillRow(args, row, out + row * shape_.n);
    }
    product_.Run(args.In<float>(0), args.In<float>(1), out,
                 shape_.has_bias ? Update::kAdd : Update::kSet, args.scratch.data());
    RunEpilogue(epilogue_, args, 0, shape_.m * shape_.n, shape_.n, threads_);
  }

 private:
  // The row of beta * C that the product is added to.
  void FillRow(const KernelArgs& args, int64_t row, float* out) const {
    const float* bias = args.In<float>(2) + row * shape_.bias_row_stride;
    for (int64_t i = 0; i < shape_.n; ++i) {
      out[i] = shape_.beta * bias[i * shape_.bias_column_stride];
    }
  }

  GemmShape shape_;
  Epilogue epilogue_;
  int threads_;
  Product product_;
};

// Many small matrices are shared out among the threads whole; few or large ones are done one after
// the other by all threads.
class MatmulKernel final : public PackingKernel {
 public:
  MatmulKernel(const MatmulShape& shape, const float* weights, const Epilogue& epilogue,
               int threads)
      : shape_(shape), epilogue_(epilogue), threads_(threads) {
    FoldBatch();
    const GemmSize size{shape_.m, shape_.n, shape_.k};
    const int useful = ThreadsFor(size.mac_count() / 16 * shape_.batch_count, threads);
    by_batch_ = useful > 1 && shape_.batch_count >= useful;
    batch_threads_ = by_batch_ ? useful : 1;
    product_ = Product(size, false, false, shape_.batch_count == 1 ? weights : nullptr, 1,
                       by_batch_ ? 1 : threads);
  }
  std::string implementation() const override { return product_.is_vector() ? "gemv" : "gemm"; }
  int64_t scratch_bytes() const override { return product_.scratch_bytes() * batch_threads_; }
  int64_t packed_bytes() const override { return product_.packed_bytes(); }
  Status Pack(std::span<std::byte> packed) override {
    product_.Pack(packed);
    return {};
  }

  void Run(const KernelArgs& args) const noexcept override {
    if (!by_batch_) return RunBatches(args, 0, shape_.batch_count, args.scratch.data());
#pragma omp parallel for num_threads(batch_threads_) schedule(static)
    for (int thread = 0; thread < batch_threads_; ++thread) {
      const Partition part = PartOf(shape_.batch_count, thread, batch_threads_);
      RunBatches(args, part.begin, part.end,
                 args.scratch.data() + thread * product_.scratch_bytes());
    }
  }

 private:
  // With one B for all of a contiguous A the batch is only more rows.
  void FoldBatch() {
    for (size_t i = 0; i < shape_.batch_rank; ++i) {
      const bool a_is_whole = shape_.batch_dims[i] == 1 || shape_.a_strides[i] != 0;
      if (!a_is_whole || (shape_.batch_dims[i] != 1 && shape_.b_strides[i] != 0)) return;
    }
    shape_.m *= shape_.batch_count;
    shape_.batch_count = 1;
    shape_.batch_rank = 0;
  }

  void RunBatches(const KernelArgs& args, int64_t begin, int64_t end, std::byte* scratch) const {
    const int64_t output_size = shape_.m * shape_.n;
    for (int64_t batch = begin; batch < end; ++batch) {
      float* out = args.Out<float>() + batch * output_size;
      product_.Run(args.In<float>(0) + shape_.a_offset(batch),
                   args.In<float>(1) + shape_.b_offset(batch), out, Update::kSet, scratch);
      RunEpilogue(epilogue_, args, batch * output_size, output_size, shape_.n,
                  by_batch_ ? 1 : threads_);
    }
  }

  MatmulShape shape_;
  Epilogue epilogue_;
  int threads_;
  bool by_batch_ = false;
  int batch_threads_ = 1;
  Product product_;
};

Status CheckFloat32(const NodeSignature& signature) {
  if (signature.output().dtype == DType::kFloat32) return {};
  return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
              "the Eigen matrix product is for float32 only");
}

// The right operand of an initializer, or null.
const float* WeightsOf(const NodeSignature& signature) {
  return static_cast<const float*>(signature.inputs[1].data);
}

Result<std::unique_ptr<Kernel>> MakeMatmul(const NodeSignature& signature,
                                           const KernelOptions& options) {
  TINYPROF_RETURN_IF_ERROR(CheckFloat32(signature));
  TINYPROF_ASSIGN_OR_RETURN(const MatmulShape shape, MatmulShapeOf(signature));
  return std::make_unique<MatmulKernel>(shape, WeightsOf(signature), Epilogue(signature),
                                        options.threads);
}

Result<std::unique_ptr<Kernel>> MakeGemm(const NodeSignature& signature,
                                         const KernelOptions& options) {
  TINYPROF_RETURN_IF_ERROR(CheckFloat32(signature));
  TINYPROF_ASSIGN_OR_RETURN(const GemmShape shape, GemmShapeOf(signature));
  return std::make_unique<GemmKernel>(shape, WeightsOf(signature), Epilogue(signature),
                                      options.threads);
}

constexpr std::array kKernels = {EigenKernel{"MatMul", MakeMatmul, true},
                                 EigenKernel{"Gemm", MakeGemm, true}};

}  // namespace

std::span<const EigenKernel> MatmulEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
