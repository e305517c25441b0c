#include <algorithm>

#include "kernels/ops/conv/eigen_conv.h"
#include "kernels/ops/conv/eigen_unfold.h"
#include "kernels/ops/matmul/eigen_panels.h"
#include "kernels/ops/packing_kernel.h"
#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// Places of a tile: enough that reading the weights again for each tile does not show, few enough
// that the unfolded tile stays in a second-level cache. A multiple of kPanelColumns.
constexpr int64_t kTilePlaces = 384;

// A cache line, and the alignment of scratch.
constexpr int64_t kLineFloats = 16;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How the output is cut into units, each done by one thread: image x group x tile of places x block
// of output channels.
struct Cut {
  Cut(const ConvShape& shape, int threads) {
    const int64_t places = shape.position_count();
    const int64_t others = shape.batch * shape.groups;
    tiles = std::max<int64_t>(CeilDiv(places, kTilePlaces), 1);
    const bool share = others % threads != 0;
    if (share && places >= kPanelColumns * 2 * threads) {
      tiles = CeilDiv(tiles, threads) * threads;
    } else if (share && others * tiles % threads != 0) {
      channel_blocks = std::min<int64_t>(threads, std::max<int64_t>(shape.out_group(), 1));
    }
    tile_places = std::min(places, CeilDiv(CeilDiv(places, tiles), kPanelColumns) * kPanelColumns);
    block_channels = CeilDiv(shape.out_group(), channel_blocks);
    units = others * tiles * channel_blocks;
  }

  int64_t tiles = 1;
  int64_t channel_blocks = 1;
  int64_t tile_places = 0;
  int64_t block_channels = 0;
  int64_t units = 0;
};

class ConvGemm final : public PackingKernel {
 public:
  // `weights` are those of an initializer, which are packed, or null.
  ConvGemm(const ConvShape& shape, const float* weights, const Epilogue& epilogue, int threads)
      : shape_(shape),
        weights_(weights),
        epilogue_(epilogue),
        pointwise_(IsPointwise(shape)),
        depth_(shape.in_group() * shape.tap_count()),
        threads_(ThreadsFor(shape.batch * shape.out_channels * depth_ * shape.position_count() / 16,
                            threads)),
        cut_(shape, threads_),
        step_(PanelDepth(std::max<int64_t>(depth_, 1))) {}

  std::string implementation() const override { return pointwise_ ? "gemm" : "im2col+gemm"; }
  int64_t scratch_bytes() const override { return thread_scratch_bytes() * threads_; }
  int64_t packed_bytes() const override {
    if (weights_ == nullptr) return 0;
    return shape_.groups * cut_.channel_blocks * packed_block_floats() * int64_t{sizeof(float)};
  }

  Status Pack(std::span<std::byte> packed) override {
    auto* out = reinterpret_cast<float*>(packed.data());
    packed_ = out;
    for (int64_t group = 0; group < shape_.groups; ++group) {
      for (int64_t block = 0; block < cut_.channel_blocks; ++block) {
        const int64_t channels = ChannelsOf(block);
        const int64_t first = (group * shape_.out_group() + block * cut_.block_channels) * depth_;
        float* packed_block = out + (group * cut_.channel_blocks + block) * packed_block_floats();
        for (int64_t k = 0; k < depth_; k += step_) {
          PackRows(channels, std::min(step_, depth_ - k), {weights_ + first + k, depth_}, 1,
                   packed_block + k * channels);
        }
      }
    }
    return {};
  }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      const Partition part = PartOf(cut_.units, thread, threads_);
      std::byte* scratch = args.scratch.data() + thread * thread_scratch_bytes();
      for (int64_t unit = part.begin; unit < part.end; ++unit) RunUnit(args, unit, scratch);
    }
  }

 private:
  int64_t tile_floats() const { return step_ * PaddedColumns(cut_.tile_places); }
  int64_t weight_panel_floats() const {
    return weights_ == nullptr ? cut_.block_channels * step_ : 0;
  }
  int64_t thread_scratch_bytes() const {
    return CeilDiv(tile_floats() + weight_panel_floats(), kLineFloats) * kLineFloats *
           int64_t{sizeof(float)};
  }

  int64_t packed_block_floats() const { return cut_.block_channels * depth_; }

  int64_t ChannelsOf(int64_t block) const {
    const int64_t rest = shape_.out_group() - block * cut_.block_channels;
    return std::clamp<int64_t>(rest, 0, cut_.block_channels);
  }

  void RunUnit(const KernelArgs& args, int64_t unit, std::byte* scratch) const {
    const int64_t block = unit % cut_.channel_blocks;
    const int64_t tile = unit / cut_.channel_blocks % cut_.tiles;
    const int64_t image_group = unit / cut_.channel_blocks / cut_.tiles;
    const int64_t places = shape_.position_count();
    const int64_t first = std::min(places, tile * cut_.tile_places);
    const int64_t last = std::min(places, first + cut_.tile_places);
    const int64_t channel = block * cut_.block_channels;
    const int64_t channels = ChannelsOf(block);
    if (first == last || channels == 0) return;

    const int64_t group_channel = image_group % shape_.groups * shape_.out_group() + channel;
    const float* weights = args.In<float>(1) + group_channel * depth_;
    const float* packed =
        packed_ == nullptr ? nullptr
                           : packed_ + (image_group % shape_.groups * cut_.channel_blocks + block) *
                                           packed_block_floats();
    const float* x = args.In<float>(0) + image_group * shape_.in_group() * shape_.extent_count();
    const int64_t begin = (image_group * shape_.out_group() + channel) * places + first;
    float* out = args.Out<float>() + begin;
    for (int64_t i = 0; i < channels; ++i) {
      const float bias = args.has_input(2) ? args.In<float>(2)[group_channel + i] : 0.0F;
      std::fill_n(out + i * places, last - first, bias);
    }
    auto* panels = reinterpret_cast<float*>(scratch);
    for (int64_t k = 0; k < depth_; k += step_) {
      const int64_t end = std::min(depth_, k + step_);
      WriteColumns(x, {k, end, first, last}, panels);
      const GemmSize size{channels, last - first, end - k};
      if (packed != nullptr) {
        MultiplyPanels(size, packed + k * channels, panels, out, places, Update::kAdd);
      } else {
        float* weight_panels = panels + tile_floats();
        PackRows(size.m, size.k, {weights + k, depth_}, 1, weight_panels);
        MultiplyPanels(size, weight_panels, panels, out, places, Update::kAdd);
      }
    }
    for (int64_t i = 0; i < channels; ++i) {
      epilogue_.RunOnPlane(args, begin + i * places, last - first, group_channel + i);
    }
  }

  void WriteColumns(const float* x, const UnfoldTile& tile, float* panels) const {
    if (!pointwise_) return Unfold(shape_, x, tile, panels);
    const int64_t places = shape_.position_count();
    PackColumns(tile.row_end - tile.row_begin, tile.column_end - tile.column_begin,
                {x + tile.row_begin * places + tile.column_begin, places}, panels);
  }

  ConvShape shape_;
  const float* weights_;
  const float* packed_ = nullptr;
  Epilogue epilogue_;
  bool pointwise_;
  int64_t depth_;  // the products behind an output
  int threads_;
  Cut cut_;
  int64_t step_;  // of depth_ that is unfolded at once
};

}  // namespace

bool IsPointwise(const ConvShape& shape) {
  for (const ConvAxis& axis : shape.axes) {
    if (axis.kernel != 1 || axis.stride != 1 || axis.positions != axis.extent) return false;
  }
  return true;
}

std::unique_ptr<Kernel> MakeConvGemm(const ConvShape& shape, const float* weights,
                                     const Epilogue& epilogue, int threads) {
  return std::make_unique<ConvGemm>(shape, weights, epilogue, threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
