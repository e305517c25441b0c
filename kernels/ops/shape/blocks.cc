// Concat and Split: one tensor whose rows are made of a block of each of the others.
#include <cstring>
#include <vector>

#include "kernels/ops/checks.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/shape/kernels.h"

namespace tinyprof {
namespace {

// The joined tensor as `rows` rows of `row_bytes`; part i has block_bytes[i] of each row.
struct BlockLayout {
  int64_t rows = 1;
  int64_t row_bytes = 0;
  std::vector<int64_t> block_bytes;
};

template <class Parts>
Result<BlockLayout> LayoutOf(const NodeSignature& signature, const TensorType& joined,
                             size_t part_count, Parts part) {
  TINYPROF_ASSIGN_OR_RETURN(
      const size_t axis, NormalizeAxis(signature, signature.Int("axis", 0), joined.shape.rank()));
  BlockLayout layout;
  for (size_t d = 0; d < axis; ++d) layout.rows *= joined.shape[d];
  const int64_t slice_bytes = joined.shape.stride(axis) * ByteSize(joined.dtype);
  layout.row_bytes = joined.shape[axis] * slice_bytes;
  for (size_t i = 0; i < part_count; ++i) {
    layout.block_bytes.push_back(part(i).shape[axis] * slice_bytes);
  }
  return layout;
}

// Rows are shared among threads.
template <bool kJoin>
class BlockKernel final : public Kernel {
 public:
  BlockKernel(BlockLayout layout, const KernelOptions& options)
      : layout_(std::move(layout)),
        threads_(ThreadsFor(layout_.rows * layout_.row_bytes / 4, options.threads)) {}
  std::string implementation() const override { return "copy"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int64_t row = 0; row < layout_.rows; ++row) CopyRow(args, row);
  }

 private:
  void CopyRow(const KernelArgs& args, int64_t row) const {
    int64_t offset = row * layout_.row_bytes;
    for (size_t i = 0; i < layout_.block_bytes.size(); ++i) {
      const int64_t bytes = layout_.block_bytes[i];
      if (bytes == 0) continue;
      if constexpr (kJoin) {
        std::memcpy(args.Out<std::byte>() + offset, args.In<std::byte>(i) + row * bytes,
                    static_cast<size_t>(bytes));
      } else if (args.outputs[i].data != nullptr) {
        std::memcpy(args.Out<std::byte>(i) + row * bytes, args.In<std::byte>(0) + offset,
                    static_cast<size_t>(bytes));
      }
      offset += bytes;
    }
  }

  BlockLayout layout_;
  int threads_;
};

}  // namespace

KernelResult MakeConcatKernel(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(
      BlockLayout layout,
      LayoutOf(signature, signature.output(), signature.inputs.size(),
               [&](size_t i) -> const TensorType& { return signature.input(i); }));
  return std::make_unique<BlockKernel<true>>(std::move(layout), options);
}

KernelResult MakeSplitKernel(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(
      BlockLayout layout,
      LayoutOf(signature, signature.input(0), signature.outputs.size(),
               [&](size_t i) -> const TensorType& { return signature.output(i); }));
  return std::make_unique<BlockKernel<false>>(std::move(layout), options);
}

}  // namespace tinyprof
