// Trilu and ReverseSequence.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/ops/index/index.h"
#include "kernels/ops/partition.h"

namespace tinyprof {
namespace {

class TriluKernel final : public Kernel {
 public:
  TriluKernel(const TensorType& type, bool upper, int threads)
      : rows_(type.shape.back(1)),
        columns_(type.shape.back()),
        row_count_(columns_ == 0 ? 0 : type.shape.element_count() / columns_),
        element_bytes_(ByteSize(type.dtype)),
        upper_(upper),
        threads_(ThreadsFor(row_count_ * columns_, threads)) {}
  std::string implementation() const override { return "row copy"; }

  void Run(const KernelArgs& args) const noexcept override {
    const int64_t diagonal = args.has_input(1) ? IndexAt(args.inputs[1], 0) : 0;
    const int64_t bounded = std::clamp(diagonal, -rows_, columns_);
#pragma omp parallel for num_threads(threads_)
    for (int64_t row = 0; row < row_count_; ++row) {
      const int64_t on_diagonal = row % rows_ + bounded;
      const int64_t begin = upper_ ? std::clamp<int64_t>(on_diagonal, 0, columns_) : 0;
      const int64_t end = upper_ ? columns_ : std::clamp<int64_t>(on_diagonal + 1, 0, columns_);
      CopyRange(args, row, begin, end);
    }
  }

 private:
  void CopyRange(const KernelArgs& args, int64_t row, int64_t begin, int64_t end) const {
    const int64_t at = row * columns_ * element_bytes_;
    auto* out = args.Out<std::byte>() + at;
    std::memset(out, 0, static_cast<size_t>(columns_ * element_bytes_));
    if (begin >= end) return;
    std::memcpy(out + begin * element_bytes_, args.In<std::byte>(0) + at + begin * element_bytes_,
                static_cast<size_t>((end - begin) * element_bytes_));
  }

  int64_t rows_;
  int64_t columns_;
  int64_t row_count_;
  int64_t element_bytes_;
  bool upper_;
  int threads_;
};

// The first two dimensions are time and batch, in either order.
struct ReverseLayout {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t step_stride = 0;   // in rows
  int64_t batch_stride = 0;  // in rows
  int64_t row_bytes = 0;
};

Result<ReverseLayout> ReverseLayoutOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 2));
  const TensorType& type = signature.input(0);
  const int64_t batch_axis = signature.Int("batch_axis", 1);
  const int64_t time_axis = signature.Int("time_axis", 0);
  if (batch_axis + time_axis != 1 || batch_axis * time_axis != 0) {
    return BadAttribute(signature, fmt::format("batch_axis {} and time_axis {} are not 0 and 1",
                                               batch_axis, time_axis));
  }
  const auto time = static_cast<size_t>(time_axis);
  const auto batch = static_cast<size_t>(batch_axis);
  return ReverseLayout{.steps = type.shape[time],
                       .batch = type.shape[batch],
                       .step_stride = time == 0 ? type.shape[1] : 1,
                       .batch_stride = batch == 0 ? type.shape[1] : 1,
                       .row_bytes = type.shape.stride(1) * ByteSize(type.dtype)};
}

class ReverseSequenceKernel final : public Kernel {
 public:
  explicit ReverseSequenceKernel(const ReverseLayout& layout) : layout_(layout) {}
  std::string implementation() const override { return "row copy"; }

  void Run(const KernelArgs& args) const noexcept override {
    for (int64_t n = 0; n < layout_.batch && layout_.row_bytes > 0; ++n) {
      const int64_t length = std::clamp<int64_t>(IndexAt(args.inputs[1], n), 0, layout_.steps);
      for (int64_t step = 0; step < layout_.steps; ++step) {
        const int64_t from = step < length ? length - 1 - step : step;
        std::memcpy(args.Out<std::byte>() + OffsetOf(n, step),
                    args.In<std::byte>(0) + OffsetOf(n, from),
                    static_cast<size_t>(layout_.row_bytes));
      }
    }
  }

 private:
  int64_t OffsetOf(int64_t n, int64_t step) const {
    return (n * layout_.batch_stride + step * layout_.step_stride) * layout_.row_bytes;
  }

  ReverseLayout layout_;
};

}  // namespace

Result<Types> InferTrilu(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 2));
  if (signature.has_input(1)) {
    TINYPROF_RETURN_IF_ERROR(CheckIndexInput(signature, 1));
    if (signature.input(1).shape.element_count() != 1) {
      return ShapeMismatch(signature, "k is not one number");
    }
  }
  return Types{signature.input(0)};
}

KernelResult MakeTriluKernel(const NodeSignature& signature, const KernelOptions& options) {
  return std::make_unique<TriluKernel>(signature.input(0), signature.Int("upper", 1) != 0,
                                       options.threads);
}

Result<Types> InferReverseSequence(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckIndexInput(signature, 1));
  TINYPROF_ASSIGN_OR_RETURN(const ReverseLayout layout, ReverseLayoutOf(signature));
  TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 1, "sequence_lens", Shape{layout.batch}));
  return Types{signature.input(0)};
}

KernelResult MakeReverseSequenceKernel(const NodeSignature& signature,
                                       const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(const ReverseLayout layout, ReverseLayoutOf(signature));
  return std::make_unique<ReverseSequenceKernel>(layout);
}

}  // namespace tinyprof
