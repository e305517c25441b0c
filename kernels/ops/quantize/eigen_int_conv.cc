#include <algorithm>
#include <array>

#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/conv/eigen_unfold.h"
#include "kernels/ops/packing_kernel.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/quantize/eigen_int_depthwise.h"
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

// Two neighbouring channels at one place, to be copied whole.
using Pair = uint32_t __attribute__((may_alias));

// One run of a row of the unfolded matrix.
void CopyRun(const Pair* from, int64_t stride, int64_t count, Pair* to) {
  if (stride == 1) {
    std::copy_n(from, count, to);
  } else if (stride == 2) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[stride * i];
  }
}

// The pairs of two planes less the zero point; without `odd` its half is 0.
template <class Q>
void PairPlanes(int64_t count, const Q* __restrict even, const Q* __restrict odd, int16_t zero,
                int16_t* __restrict out) {
  if (odd == nullptr) {
    for (int64_t i = 0; i < count; ++i) {
      out[2 * i] = static_cast<int16_t>(even[i] - zero);
      out[2 * i + 1] = 0;
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    out[2 * i] = static_cast<int16_t>(even[i] - zero);
    out[2 * i + 1] = static_cast<int16_t>(odd[i] - zero);
  }
}

// The products of an output come tap by tap and within a tap by pairs of channels: then a row of
// the unfolded matrix is a copy of runs of pairs that are made once.
class IntConv final : public PackingKernel {
 public:
  IntConv(const NodeSignature& signature, const ProductRoles& roles, const ConvShape& shape,
          int threads)
      : signature_(signature),
        roles_(roles),
        shape_(shape),
        channel_pairs_(IntPairs(shape.in_group())),
        depth_(2 * channel_pairs_ * shape.tap_count()),
        epilogue_(signature, roles, IntEpilogue::Channels::kAreRows),
        threads_(ThreadsFor(shape.batch * shape.out_channels * shape.position_count() * depth_ / 16,
                            threads)) {
    weights_are_packed_ = IsPackable(signature, roles);
    const int64_t places = shape.position_count();
    const int64_t panel_bytes =
        std::max<int64_t>(kIntPanelColumns * depth_ * int64_t{sizeof(int16_t)}, 1);
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
    return (input_elements() + (weights_are_packed_ ? 0 : packed_weights()) +
            tile_elements() * threads_) *
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
    int16_t* x = scratch;
    PairInput(args, x);
    scratch += input_elements();
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
      int16_t* tile = scratch + thread * tile_elements();
      for (int64_t unit = part.begin; unit < part.end; ++unit) {
        RunUnit(args, unit, x, weights, tile);
      }
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

  // Elements of what is packed, each a multiple of 64 bytes.
  int64_t packed_group() const { return Aligned(IntLeftElements(shape_.out_group(), depth_)); }
  int64_t packed_weights() const { return packed_group() * shape_.groups; }
  int64_t tile_elements() const { return Aligned(IntRightElements(tile_places_, depth_)); }
  int64_t input_elements() const {
    return Aligned(shape_.batch * shape_.groups * channel_pairs_ * 2 * shape_.extent_count());
  }

  void PackWeights(const void* data, const ZeroPoints& zeros, int16_t* packed) const {
    WithByteType(signature_.input(roles_.w).dtype, [&](const auto* type) {
      const auto* weights = static_cast<decltype(type)>(data);
      for (int64_t channel = 0; channel < shape_.out_channels; ++channel) {
        const int64_t group = channel / shape_.out_group();
        PackChannel(weights + channel * shape_.in_group() * shape_.tap_count(), zeros.at(channel),
                    channel % shape_.out_group(), packed + group * packed_group());
      }
    });
  }

  // Row `row` of the weights of a group.
  template <class Q>
  void PackChannel(const Q* weights, int16_t zero, int64_t row, int16_t* packed) const {
    const int64_t first = row / kIntPanelRows * kIntPanelRows;
    const int64_t rows = std::min<int64_t>(kIntPanelRows, shape_.out_group() - first);
    int16_t* out = packed + first * depth_ + 2 * (row - first);
    const auto at = [&](int64_t channel, int64_t tap) {
      if (channel == shape_.in_group()) return int16_t{0};
      return static_cast<int16_t>(weights[channel * shape_.tap_count() + tap] - zero);
    };
    for (int64_t tap = 0; tap < shape_.tap_count(); ++tap) {
      for (int64_t pair = 0; pair < channel_pairs_; ++pair, out += 2 * rows) {
        out[0] = at(2 * pair, tap);
        out[1] = at(2 * pair + 1, tap);
      }
    }
  }

  void PairInput(const KernelArgs& args, int16_t* paired) const {
    const int16_t zero = ZeroPoints(args, roles_.x_zero).at(0);
    const int64_t plane = shape_.extent_count();
    const int64_t planes = shape_.batch * shape_.groups * channel_pairs_;
    WithByteType(args.inputs[roles_.x].type.dtype, [&](const auto* type) {
      const auto* x = static_cast<decltype(type)>(args.inputs[roles_.x].data);
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
      for (int thread = 0; thread < threads_; ++thread) {
        const Partition part = PartOf(planes, thread, threads_);
        for (int64_t i = part.begin; i < part.end; ++i) {
          const int64_t channel = i % channel_pairs_ * 2;
          const auto* even = x + (i / channel_pairs_ * shape_.in_group() + channel) * plane;
          const auto* odd = channel + 1 < shape_.in_group() ? even + plane : nullptr;
          PairPlanes(plane, even, odd, zero, paired + i * 2 * plane);
        }
      }
    });
  }

  void RunUnit(const KernelArgs& args, int64_t index, const int16_t* x, const int16_t* weights,
               int16_t* tile) const {
    Unit unit;
    unit.channel_begin = index % channel_blocks_ * block_channels_;
    unit.channel_end = std::min(shape_.out_group(), unit.channel_begin + block_channels_);
    unit.place_begin = index / channel_blocks_ % tiles_ * tile_places_;
    unit.place_end = std::min(shape_.position_count(), unit.place_begin + tile_places_);
    unit.image_group = index / channel_blocks_ / tiles_;
    if (unit.channel_begin >= unit.channel_end) return;
    const int64_t image_group_elements = channel_pairs_ * 2 * shape_.extent_count();
    UnfoldPlaces(reinterpret_cast<const Pair*>(x + unit.image_group * image_group_elements), unit,
                 reinterpret_cast<Pair*>(tile));
    weights += unit.image_group % shape_.groups * packed_group();
    Multiply(args, unit, weights, tile);
  }

  void UnfoldPlaces(const Pair* x, const Unit& unit, Pair* tile) const {
    for (int64_t first = unit.place_begin; first < unit.place_end; first += kIntPanelColumns) {
      const int64_t last = std::min(unit.place_end, first + kIntPanelColumns);
      for (int64_t tap = 0; tap < shape_.tap_count(); ++tap) {
        UnfoldTap(x, tap, first, last, tile);
        tile += channel_pairs_ * IntColumns(last - first);
      }
    }
  }

  // All channels of one tap for the places of one panel.
  void UnfoldTap(const Pair* x, int64_t tap, int64_t first, int64_t last, Pair* rows) const {
    const int64_t row_length = IntColumns(last - first);
    VisitRuns(shape_, TapRowOf(shape_, tap).tap, {tap, tap + 1, first, last},
              [&](int64_t column, int64_t length, int64_t skip, int64_t use, int64_t element) {
                for (int64_t pair = 0; pair < channel_pairs_; ++pair) {
                  Pair* run = rows + pair * row_length + column;
                  std::fill(run, run + skip, Pair{0});
                  CopyRun(x + pair * shape_.extent_count() + element, shape_.axes[2].stride, use,
                          run + skip);
                  std::fill(run + skip + use, run + length, Pair{0});
                }
              });
  }

  void Multiply(const KernelArgs& args, const Unit& unit, const int16_t* weights,
                const int16_t* tile) const {
    const int64_t places = unit.place_end - unit.place_begin;
    const int64_t first_channel = unit.image_group % shape_.groups * shape_.out_group();
    const int64_t first_plane = unit.image_group * shape_.out_group();
    alignas(64) std::array<int32_t, static_cast<size_t>(kIntPanelRows * kIntPanelColumns)> sums;
    for (int64_t channel = unit.channel_begin; channel < unit.channel_end;
         channel += kIntPanelRows) {
      const int64_t rows = std::min<int64_t>(kIntPanelRows, unit.channel_end - channel);
      for (int64_t place = 0; place < places; place += kIntPanelColumns) {
        const int64_t columns = std::min(kIntPanelColumns, places - place);
        MultiplyIntPanels(rows, columns, depth_, weights + channel * depth_, tile + place * depth_,
                          sums.data());
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
  int64_t channel_pairs_;  // of a group; an odd channel is paired with zeros
  int64_t depth_;          // the products behind an output, those with such zeros among them
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
  if (IsIntDepthwise(shape)) return MakeIntDepthwise(signature, roles, shape, threads);
  return std::make_unique<IntConv>(signature, roles, shape, threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
