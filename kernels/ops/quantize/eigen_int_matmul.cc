#include <algorithm>
#include <array>

#include "kernels/ops/matmul/matmul_shape.h"
#include "kernels/ops/packing_kernel.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/quantize/eigen_int_epilogue.h"
#include "kernels/ops/quantize/eigen_int_gemm.h"
#include "kernels/ops/quantize/eigen_products.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// Rows of A that are packed at once: few enough that they stay in the cache, enough that reading B
// again for the next ones does not show.
constexpr int64_t kBlockRows = 8 * int64_t{kIntPanelRows};
constexpr int64_t kAlignedElements = 32;  // 64 bytes

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t Aligned(int64_t elements) { return CeilDiv(elements, kAlignedElements) * kAlignedElements; }

class IntMatmul final : public PackingKernel {
 public:
  IntMatmul(const NodeSignature& signature, const ProductRoles& roles, const MatmulShape& shape,
            int threads)
      : signature_(signature),
        roles_(roles),
        shape_(shape),
        epilogue_(signature, roles, IntEpilogue::Channels::kAreColumns),
        threads_(ThreadsFor(shape.output.element_count() * shape.k / 16, threads)) {
    b_is_packed_ = IsPackable(signature, roles);
    b_matrices_ = signature.input(roles.w).shape.element_count() / std::max<int64_t>(b_size(), 1);
    row_blocks_ = CeilDiv(shape.m, kBlockRows);
    const int64_t units = shape.batch_count * row_blocks_;
    const int64_t panels = CeilDiv(shape.n, kIntPanelColumns);
    if (units % threads_ != 0 && units < int64_t{4} * threads_) {
      column_blocks_ = std::clamp<int64_t>(threads_, 1, std::max<int64_t>(panels, 1));
    }
    block_columns_ = CeilDiv(panels, column_blocks_) * kIntPanelColumns;
  }

  std::string implementation() const override { return "int16 gemm"; }
  int64_t scratch_bytes() const override {
    return (packed_matrix() * (b_is_packed_ ? 0 : b_matrices_) + packed_block() * threads_) *
           int64_t{sizeof(int16_t)};
  }
  int64_t packed_bytes() const override {
    return b_is_packed_ ? packed_matrix() * b_matrices_ * int64_t{sizeof(int16_t)} : 0;
  }

  Status Pack(std::span<std::byte> packed) override {
    auto* out = reinterpret_cast<int16_t*>(packed.data());
    PackAllB(signature_.inputs[roles_.w].data, ZeroPoints(signature_, roles_.w_zero), out);
    packed_b_ = out;
    return {};
  }

  void Run(const KernelArgs& args) const noexcept override {
    auto* scratch = reinterpret_cast<int16_t*>(args.scratch.data());
    const int16_t* b = packed_b_;
    if (!b_is_packed_) {
      PackAllB(args.inputs[roles_.w].data, ZeroPoints(args, roles_.w_zero), scratch);
      b = scratch;
      scratch += packed_matrix() * b_matrices_;
    }
    const int64_t units = shape_.batch_count * row_blocks_ * column_blocks_;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      const Partition part = PartOf(units, thread, threads_);
      int16_t* packed_a = scratch + thread * packed_block();
      for (int64_t unit = part.begin; unit < part.end; ++unit) RunUnit(args, unit, b, packed_a);
    }
  }

 private:
  int64_t b_size() const { return shape_.k * shape_.n; }
  int64_t packed_matrix() const { return Aligned(IntRightElements(shape_.n, shape_.k)); }
  int64_t packed_block() const {
    return Aligned(IntLeftElements(std::min(kBlockRows, shape_.m), shape_.k));
  }

  void PackAllB(const void* data, const ZeroPoints& zeros, int16_t* packed) const {
    WithByteType(signature_.input(roles_.w).dtype, [&](const auto* type) {
      PackAllB(static_cast<decltype(type)>(data), zeros, packed);
    });
  }

  template <class Q>
  void PackAllB(const Q* b, const ZeroPoints& zeros, int16_t* packed) const {
    const int64_t panels = CeilDiv(shape_.n, kIntPanelColumns);
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      const Partition part = PartOf(b_matrices_ * panels, thread, threads_);
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t first = i % panels * kIntPanelColumns;
        PackPanel(b + i / panels * b_size(), first, zeros,
                  packed + i / panels * packed_matrix() + first * 2 * IntPairs(shape_.k));
      }
    }
  }

  // The columns from `first` on that are in one panel.
  template <class Q>
  void PackPanel(const Q* matrix, int64_t first, const ZeroPoints& zeros, int16_t* packed) const {
    using Row = std::array<int16_t, static_cast<size_t>(kIntPanelColumns)>;
    const int64_t columns = std::min(kIntPanelColumns, shape_.n - first);
    Row zero;
    for (int64_t j = 0; j < columns; ++j) zero[static_cast<size_t>(j)] = zeros.at(first + j);
    const auto widen = [&](int64_t k, Row& row) {
      if (k == shape_.k) return row.fill(0);
      const Q* from = matrix + k * shape_.n + first;
      for (int64_t j = 0; j < columns; ++j) {
        const auto at = static_cast<size_t>(j);
        row[at] = static_cast<int16_t>(from[j] - zero[at]);
      }
    };
    Row even;
    Row odd;
    for (int64_t pair = 0; pair < IntPairs(shape_.k); ++pair) {
      widen(2 * pair, even);
      widen(2 * pair + 1, odd);
      StoreIntPairs(columns, even.data(), odd.data(), packed);
      packed += 2 * IntColumns(columns);
    }
  }

  void RunUnit(const KernelArgs& args, int64_t unit, const int16_t* b, int16_t* packed_a) const {
    const int64_t column_begin = unit % column_blocks_ * block_columns_;
    const int64_t column_end = std::min(shape_.n, column_begin + block_columns_);
    const int64_t row_begin = unit / column_blocks_ % row_blocks_ * kBlockRows;
    const int64_t rows = std::min(kBlockRows, shape_.m - row_begin);
    const int64_t batch = unit / column_blocks_ / row_blocks_;
    if (column_begin >= column_end) return;
    const ZeroPoints zeros(args, roles_.x_zero);
    WithByteType(args.inputs[roles_.x].type.dtype, [&](const auto* type) {
      const auto* a = static_cast<decltype(type)>(args.inputs[roles_.x].data) +
                      shape_.a_offset(batch) + row_begin * shape_.k;
      const auto zero = [&](int64_t row) { return zeros.at(row_begin + row); };
      PackIntLeft(rows, shape_.k, a, shape_.k, zero, packed_a);
    });
    if (shape_.k > 0) b += shape_.b_offset(batch) / b_size() * packed_matrix();
    const int64_t depth = 2 * IntPairs(shape_.k);
    alignas(64) std::array<int32_t, static_cast<size_t>(kIntPanelRows * kIntPanelColumns)> sums;
    for (int64_t column = column_begin; column < column_end; column += kIntPanelColumns) {
      const int64_t columns = std::min(kIntPanelColumns, column_end - column);
      for (int64_t row = 0; row < rows; row += kIntPanelRows) {
        const int64_t panel_rows = std::min<int64_t>(kIntPanelRows, rows - row);
        MultiplyIntPanels(panel_rows, columns, shape_.k, packed_a + row * depth, b + column * depth,
                          sums.data());
        epilogue_.Run(args, sums.data(),
                      {.rows = panel_rows,
                       .columns = columns,
                       .channel = column,
                       .begin = (batch * shape_.m + row_begin + row) * shape_.n + column,
                       .stride = shape_.n});
      }
    }
  }

  NodeSignature signature_;
  ProductRoles roles_;
  MatmulShape shape_;
  IntEpilogue epilogue_;
  int threads_;
  bool b_is_packed_ = false;
  int64_t b_matrices_ = 0;  // different ones
  int64_t row_blocks_ = 0;
  int64_t column_blocks_ = 1;
  int64_t block_columns_ = 0;
  const int16_t* packed_b_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeIntMatmul(const NodeSignature& signature,
                                              const ProductRoles& roles, int threads) {
  TINYPROF_RETURN_IF_ERROR(CheckBytes(signature, roles));
  TINYPROF_ASSIGN_OR_RETURN(const MatmulShape shape,
                            MatmulShapeOf(FloatProductOf(signature, roles)));
  return std::make_unique<IntMatmul>(signature, roles, shape, threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
