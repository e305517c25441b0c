#include <algorithm>
#include <array>

#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/conv/eigen_unfold.h"
#include "kernels/ops/packing_kernel.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/quantize/eigen_int_epilogue.h"
#include "kernels/ops/quantize/eigen_int_gemm.h"
#include "kernels/ops/quantize/eigen_products.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// What an unfolded tile may take of a second-level cache, unless one panel takes more.
constexpr int64_t kTileBytes = int64_t{256} << 10;
constexpr int64_t kMaxTilePanels = 8;
constexpr int64_t kAlignedElements = 32;  // 64 bytes

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t Aligned(int64_t elements) { return CeilDiv(elements, kAlignedElements) * kAlignedElements; }

// One run of a row of the unfolded matrix: zeros where it meets padding.
template <class Q>
void WidenRun(const Q* from, int64_t stride, int16_t zero, int64_t count, int16_t* to) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int16_t>(from[i] - zero);
  } else if (stride == 2) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int16_t>(from[2 * i] - zero);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int16_t>(from[stride * i] - zero);
  }
}

class IntConv final : public PackingKernel {
 public:
  IntConv(const NodeSignature& signature, const ProductRoles& roles, const ConvShape& shape,
          int threads)
      : signature_(signature),
        roles_(roles),
        shape_(shape),
        depth_(shape.in_group() * shape.tap_count()),
        epilogue_(signature, roles, IntEpilogue::Channels::kAreRows),
        threads_(ThreadsFor(shape.batch * shape.out_channels * shape.position_count() * depth_ / 16,
                            threads)) {
    weights_are_packed_ = IsPackable(signature, roles);
    const int64_t places = shape.position_count();
    const int64_t panel_bytes =
        std::max<int64_t>(kIntPanelColumns * 2 * IntPairs(depth_) * int64_t{sizeof(int16_t)}, 1);
    tile_places_ =
        std::clamp<int64_t>(kTileBytes / panel_bytes, 1, kMaxTilePanels) * kIntPanelColumns;
    tiles_ = CeilDiv(places, tile_places_);
    const int64_t units = shape.batch * shape.groups * tiles_;
    if (units % threads_ != 0 && units < int64_t{4} * threads_) channel_blocks_ = threads_;
    const int64_t panels = CeilDiv(shape.out_group(), kIntPanelRows);
    block_channels_ = CeilDiv(panels, channel_blocks_) * kIntPanelRows;
  }

  std::string implementation() const override { return "int16 im2col+gemm"; }
  int64_t scratch_bytes() const override {
    return ((weights_are_packed_ ? 0 : packed_weights()) + thread_scratch() * threads_) *
           int64_t{sizeof(int16_t)};
  }
  int64_t packed_bytes() const override {
    return weights_are_packed_ ? packed_weights() * int64_t{sizeof(int16_t)} : 0;
  }

  Status Pack(std::span<std::byte> packed) override {
    auto* out = reinterpret_cast<int16_t*>(packed.data());
    PackWeights(signature_.inputs[roles_.w].data, ZeroPoints(signature_, roles_.w_zero), out);
    packed_ = out;
    return {};
  }

  void Run(const KernelArgs& args) const noexcept override {
    auto* scratch = reinterpret_cast<int16_t*>(args.scratch.data());
    const int16_t* weights = packed_;
    if (!weights_are_packed_) {
      PackWeights(args.inputs[roles_.w].data, ZeroPoints(args, roles_.w_zero), scratch);
      weights = scratch;
      scratch += packed_weights();
    }
    const int64_t units = shape_.batch * shape_.groups * tiles_ * channel_blocks_;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      const Partition part = PartOf(units, thread, threads_);
      int16_t* own = scratch + thread * thread_scratch();
      for (int64_t unit = part.begin; unit < part.end; ++unit) RunUnit(args, unit, weights, own);
    }
  }

 private:
  // A tile of places of one group of an image, and the channels that are worked out.
  struct Unit {
    int64_t image_group = 0;
    int64_t place_begin = 0;
    int64_t place_end = 0;
    int64_t channel_begin = 0;  // within the group
    int64_t channel_end = 0;
  };

  int64_t packed_group() const { return Aligned(IntLeftElements(shape_.out_group(), depth_)); }
  int64_t packed_weights() const { return packed_group() * shape_.groups; }
  int64_t tile_elements() const { return IntRightElements(tile_places_, depth_); }
  // The tile, and two rows of it before they are paired.
  int64_t thread_scratch() const { return Aligned(tile_elements()) + 2 * Aligned(tile_places_); }

  void PackWeights(const void* data, const ZeroPoints& zeros, int16_t* packed) const {
    WithByteType(signature_.input(roles_.w).dtype, [&](const auto* type) {
      const auto* weights = static_cast<decltype(type)>(data);
      for (int64_t group = 0; group < shape_.groups; ++group) {
        const int64_t first = group * shape_.out_group();
        const auto zero = [&](int64_t row) { return zeros.at(first + row); };
        PackIntLeft(shape_.out_group(), depth_, weights + first * depth_, depth_, zero,
                    packed + group * packed_group());
      }
    });
  }

  void RunUnit(const KernelArgs& args, int64_t index, const int16_t* weights, int16_t* own) const {
    Unit unit;
    unit.channel_begin = index % channel_blocks_ * block_channels_;
    unit.channel_end = std::min(shape_.out_group(), unit.channel_begin + block_channels_);
    unit.place_begin = index / channel_blocks_ % tiles_ * tile_places_;
    unit.place_end = std::min(shape_.position_count(), unit.place_begin + tile_places_);
    unit.image_group = index / channel_blocks_ / tiles_;
    if (unit.channel_begin >= unit.channel_end) return;
    const int16_t zero = ZeroPoints(args, roles_.x_zero).at(0);
    WithByteType(args.inputs[roles_.x].type.dtype, [&](const auto* type) {
      UnfoldTile(static_cast<decltype(type)>(args.inputs[roles_.x].data), unit, zero, own);
    });
    weights += unit.image_group % shape_.groups * packed_group();
    Multiply(args, unit, weights, own);
  }

  template <class Q>
  void UnfoldTile(const Q* x, const Unit& unit, int16_t zero, int16_t* tile) const {
    x += unit.image_group * shape_.in_group() * shape_.extent_count();
    int16_t* even = tile + Aligned(tile_elements());
    int16_t* odd = even + Aligned(tile_places_);
    const int64_t places = unit.place_end - unit.place_begin;
    for (int64_t pair = 0; pair < IntPairs(depth_); ++pair) {
      UnfoldRow(x, unit, zero, 2 * pair, even);
      UnfoldRow(x, unit, zero, 2 * pair + 1, odd);
      for (int64_t first = 0; first < places; first += kIntPanelColumns) {
        const int64_t columns = std::min(kIntPanelColumns, places - first);
        StoreIntPairs(columns, even + first, odd + first,
                      tile + first * 2 * IntPairs(depth_) + pair * 2 * IntColumns(columns));
      }
    }
  }

  template <class Q>
  void UnfoldRow(const Q* x, const Unit& unit, int16_t zero, int64_t row, int16_t* out) const {
    if (row == depth_) {
      std::fill_n(out, unit.place_end - unit.place_begin, int16_t{0});
      return;
    }
    const TapRow tap_row = TapRowOf(shape_, row);
    const Q* plane = x + tap_row.channel * shape_.extent_count();
    VisitRuns(shape_, tap_row.tap, {row, row + 1, unit.place_begin, unit.place_end},
              [&](int64_t column, int64_t length, int64_t skip, int64_t use, int64_t element) {
                int16_t* run = out + column;
                std::fill(run, run + skip, int16_t{0});
                WidenRun(plane + element, shape_.axes[2].stride, zero, use, run + skip);
                std::fill(run + skip + use, run + length, int16_t{0});
              });
  }

  void Multiply(const KernelArgs& args, const Unit& unit, const int16_t* weights,
                const int16_t* tile) const {
    const int64_t places = unit.place_end - unit.place_begin;
    const int64_t pair_elements = 2 * IntPairs(depth_);
    const int64_t first_channel = unit.image_group % shape_.groups * shape_.out_group();
    const int64_t first_plane = unit.image_group * shape_.out_group();
    alignas(64) std::array<int32_t, static_cast<size_t>(kIntPanelRows * kIntPanelColumns)> sums;
    for (int64_t channel = unit.channel_begin; channel < unit.channel_end;
         channel += kIntPanelRows) {
      const int64_t rows = std::min<int64_t>(kIntPanelRows, unit.channel_end - channel);
      for (int64_t place = 0; place < places; place += kIntPanelColumns) {
        const int64_t columns = std::min(kIntPanelColumns, places - place);
        MultiplyIntPanels(rows, columns, depth_, weights + channel * pair_elements,
                          tile + place * pair_elements, sums.data());
        epilogue_.Run(
            args, sums.data(),
            {.rows = rows,
             .columns = columns,
             .channel = first_channel + channel,
             .begin = (first_plane + channel) * shape_.position_count() + unit.place_begin + place,
             .stride = shape_.position_count()});
      }
    }
  }

  NodeSignature signature_;
  ProductRoles roles_;
  ConvShape shape_;
  int64_t depth_;  // the products behind an output
  IntEpilogue epilogue_;
  int threads_;
  bool weights_are_packed_ = false;
  int64_t tile_places_ = 0;
  int64_t tiles_ = 0;
  int64_t channel_blocks_ = 1;
  int64_t block_channels_ = 0;
  const int16_t* packed_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeIntConv(const NodeSignature& signature,
                                            const ProductRoles& roles, int threads) {
  TINYPROF_RETURN_IF_ERROR(CheckBytes(signature, roles));
  TINYPROF_ASSIGN_OR_RETURN(const ConvShape shape, ConvShapeOf(FloatProductOf(signature, roles)));
  return std::make_unique<IntConv>(signature, roles, shape, threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
