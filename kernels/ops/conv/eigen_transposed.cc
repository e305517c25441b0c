#include <algorithm>

#include "kernels/ops/conv/eigen_conv.h"
#include "kernels/ops/conv/eigen_unfold.h"
#include "kernels/ops/matmul/eigen_gemm.h"
#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// The product of a tile has about kTileRows x kTilePlaces elements: a quarter of a megabyte.
constexpr int64_t kTileRows = 256;
constexpr int64_t kTilePlaces = 240;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class ConvTransposed final : public Kernel {
 public:
  ConvTransposed(const ConvShape& shape, const Epilogue& epilogue, int threads)
      : shape_(shape),
        epilogue_(epilogue),
        taps_(shape.tap_count()),
        threads_(ThreadsFor(shape.batch * shape.in_channels * shape.out_group() * taps_ *
                                shape.position_count() / 16,
                            threads)) {
    const int64_t share = CeilDiv(shape.batch * shape.out_channels, threads_);
    block_channels_ = std::clamp<int64_t>(std::min(kTileRows / taps_, share), 1,
                                          std::max<int64_t>(shape.out_group(), 1));
    blocks_ = CeilDiv(shape.out_group(), block_channels_);
    tile_places_ = std::min(kTilePlaces, shape.position_count());
    blocking_ = GemmBlocking({block_channels_ * taps_, tile_places_, shape.in_group()});
  }

  std::string implementation() const override { return "gemm+col2im"; }
  int64_t scratch_bytes() const override { return thread_scratch_bytes() * threads_; }

  void Run(const KernelArgs& args) const noexcept override {
    const int64_t units = shape_.batch * shape_.groups * blocks_;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      const Partition part = PartOf(units, thread, threads_);
      std::byte* scratch = args.scratch.data() + thread * thread_scratch_bytes();
      for (int64_t unit = part.begin; unit < part.end; ++unit) RunUnit(args, unit, scratch);
    }
  }

 private:
  int64_t tile_bytes() const {
    const int64_t bytes = block_channels_ * taps_ * tile_places_ * int64_t{sizeof(float)};
    return (bytes + 63) / 64 * 64;
  }
  int64_t thread_scratch_bytes() const { return tile_bytes() + blocking_.scratch_bytes(); }

  // A block of output channels of one group of one image, which no other unit writes.
  void RunUnit(const KernelArgs& args, int64_t unit, std::byte* scratch) const {
    const int64_t image_group = unit / blocks_;
    const int64_t group = image_group % shape_.groups;
    const int64_t channel = unit % blocks_ * block_channels_;
    const int64_t channels = std::min(block_channels_, shape_.out_group() - channel);
    const int64_t begin = (image_group * shape_.out_group() + channel) * shape_.extent_count();
    float* y = args.Out<float>() + begin;
    for (int64_t i = 0; i < channels; ++i) {
      const int64_t bias_index = group * shape_.out_group() + channel + i;
      const float bias = args.has_input(2) ? args.In<float>(2)[bias_index] : 0.0F;
      std::fill_n(y + i * shape_.extent_count(), shape_.extent_count(), bias);
    }
    const int64_t weight_stride = shape_.out_group() * taps_;
    const GemmOperand weights{
        args.In<float>(1) + group * shape_.in_group() * weight_stride + channel * taps_,
        weight_stride, true};
    const int64_t places = shape_.position_count();
    const float* x = args.In<float>(0) + image_group * shape_.in_group() * places;
    for (int64_t first = 0; first < places; first += tile_places_) {
      const int64_t last = std::min(places, first + tile_places_);
      auto* columns = reinterpret_cast<float*>(scratch);
      const GemmSize size{channels * taps_, last - first, shape_.in_group()};
      blocking_.Run(size, weights, {x + first, places}, columns, size.n, 1, Update::kSet,
                    scratch + tile_bytes());
      FoldAdd(shape_, columns, {0, size.m, first, last}, y);
    }
    for (int64_t i = 0; i < channels; ++i) {
      epilogue_.RunOnPlane(args, begin + i * shape_.extent_count(), shape_.extent_count(),
                           group * shape_.out_group() + channel + i);
    }
  }

  ConvShape shape_;
  Epilogue epilogue_;
  int64_t taps_;
  int threads_;
  int64_t block_channels_ = 1;
  int64_t blocks_ = 0;
  int64_t tile_places_ = 0;
  GemmBlocking blocking_;
};

}  // namespace

std::unique_ptr<Kernel> MakeConvTransposed(const ConvShape& shape, const Epilogue& epilogue,
                                           int threads) {
  return std::make_unique<ConvTransposed>(shape, epilogue, threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
