// Gather, which is also what an embedding layer is: rows of a table, chosen by integers.
//
// data [d0..dr-1], indices of any shape, attribute "axis"; the output has the indices' shape in the
// place of that axis. Negative indices count from the end. One that is out of range is refused
// where it is known before the run, and else clamped: nothing outside of the table is ever read.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/ops/checks.h"
#include "kernels/ops/embedding/gather.h"
#include "kernels/ops/families.h"
#include "kernels/ops/partition.h"

namespace tinyprof {
namespace {

// The table as [outer, rows, row_bytes].
struct GatherLayout {
  int64_t outer = 1;
  int64_t rows = 0;
  int64_t row_bytes = 0;
  int64_t index_count = 0;
};

Result<GatherLayout> LayoutOf(const NodeSignature& signature) {
  const TensorType& table = signature.input(0);
  TINYPROF_ASSIGN_OR_RETURN(const size_t axis,
                            NormalizeAxis(signature, signature.Int("axis", 0), table.shape.rank()));
  GatherLayout layout;
  for (size_t d = 0; d < axis; ++d) layout.outer *= table.shape[d];
  layout.rows = table.shape[axis];
  layout.row_bytes = table.shape.stride(axis) * ByteSize(table.dtype);
  layout.index_count = signature.input(1).shape.element_count();
  return layout;
}

Result<std::vector<TensorType>> InferGather(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckIndexInput(signature, 1));
  const TensorType& table = signature.input(0);
  TINYPROF_ASSIGN_OR_RETURN(const size_t axis,
                            NormalizeAxis(signature, signature.Int("axis", 0), table.shape.rank()));
  const std::vector<int64_t>& from = table.shape.dims();
  const std::vector<int64_t>& indices = signature.input(1).shape.dims();
  const auto cut = from.begin() + static_cast<std::ptrdiff_t>(axis);
  std::vector<int64_t> dims(from.begin(), cut);
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), cut + 1, from.end());
  Result<Shape> shape = Shape::Create(std::move(dims));
  if (!shape) return ShapeMismatch(signature, shape.error().message);
  if (shape->element_count() > 0 && from[axis] == 0) {
    return ShapeMismatch(signature, "the table has no rows to take");
  }
  TINYPROF_RETURN_IF_ERROR(CheckKnownIndices(signature, 1, {from[axis]}));
  return std::vector<TensorType>{{table.dtype, *std::move(shape)}};
}

Result<Cost> GatherCost(const NodeSignature& /*signature*/) { return Cost{}; }

// Each taken row once, but never more than the table has: rows that repeat come from the cache.
int64_t GatherBytesRead(const NodeSignature& signature, size_t index) {
  const int64_t whole = signature.input(index).byte_size();
  return index == 0 ? std::min(whole, signature.output().byte_size()) : whole;
}

template <class Index>
class GatherKernel final : public Kernel {
 public:
  GatherKernel(const GatherLayout& layout, int threads)
      : layout_(layout),
        row_count_(layout.row_bytes == 0 ? 0 : layout.outer * layout.index_count),
        threads_(ThreadsFor(row_count_ * layout.row_bytes / 4, threads)) {}
  std::string implementation() const override { return "row copy"; }

  void Run(const KernelArgs& args) const noexcept override {
    const Index* indices = args.In<Index>(1);
#pragma omp parallel for num_threads(threads_)
    for (int64_t i = 0; i < row_count_; ++i) {
      const int64_t outer = i / layout_.index_count;
      const int64_t row = SafeRow(indices[i % layout_.index_count]);
      std::memcpy(args.Out<std::byte>() + i * layout_.row_bytes,
                  args.In<std::byte>(0) + (outer * layout_.rows + row) * layout_.row_bytes,
                  static_cast<size_t>(layout_.row_bytes));
    }
  }

 private:
  int64_t SafeRow(int64_t index) const {
    return std::clamp<int64_t>(index < 0 ? index + layout_.rows : index, 0, layout_.rows - 1);
  }

  GatherLayout layout_;
  int64_t row_count_;
  int threads_;
};

constexpr std::array kOperators = {
    Operator{"Gather", 2, 2, &InferGather, &GatherCost, &MakeGatherKernel, &MakeGatherKernel,
             &GatherBytesRead},
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeGatherKernel(const NodeSignature& signature,
                                                 const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const GatherLayout layout, LayoutOf(signature));
  if (signature.input(1).dtype == DType::kInt32) {
    return std::make_unique<GatherKernel<int32_t>>(layout, options.threads);
  }
  return std::make_unique<GatherKernel<int64_t>>(layout, options.threads);
}

std::span<const Operator> EmbeddingOperators() { return kOperators; }

}  // namespace tinyprof
