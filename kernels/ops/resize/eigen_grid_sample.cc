#include <algorithm>
#include <array>

#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/resize/eigen_resize.h"
#include "kernels/ops/resize/grid_sample.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// Pixels of an output row whose neighbours are found at once, for all channels.
constexpr int64_t kTilePixels = 64;
constexpr size_t kMostTaps = 16;

// The neighbours of some pixels: where they are in a plane (-1: outside) and their weights.
struct Neighbours {
  std::array<std::array<int32_t, kTilePixels>, kMostTaps> offsets;
  std::array<std::array<float, kTilePixels>, kMostTaps> weights;
};

class GridSample final : public Kernel {
 public:
  GridSample(const GridSampleShape& shape, int threads)
      : shape_(shape),
        out_plane_(shape.out_height * shape.out_width),
        tiles_((out_plane_ + kTilePixels - 1) / kTilePixels),
        taps_(static_cast<size_t>(shape.taps() * shape.taps())),
        threads_(ThreadsFor(shape.batch * shape.channels * out_plane_, threads)) {}
  std::string implementation() const override { return "vectorized"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int64_t unit = 0; unit < shape_.batch * tiles_; ++unit) {
      const int64_t image = unit / tiles_;
      const int64_t first = unit % tiles_ * kTilePixels;
      const int64_t count = std::min(kTilePixels, out_plane_ - first);
      Neighbours neighbours;
      Find(args.In<float>(1) + (image * out_plane_ + first) * 2, count, neighbours);
      for (int64_t channel = 0; channel < shape_.channels; ++channel) {
        const int64_t plane = image * shape_.channels + channel;
        Sample(args.In<float>(0) + plane * shape_.in_height * shape_.in_width, count, neighbours,
               args.Out<float>() + plane * out_plane_ + first);
      }
    }
  }

 private:
  void Find(const float* grid, int64_t count, Neighbours& neighbours) const {
    const auto side = static_cast<size_t>(shape_.taps());
    for (int64_t pixel = 0; pixel < count; ++pixel) {
      const auto at = static_cast<size_t>(pixel);
      const GridTaps x = TapsOf(shape_, double{grid[2 * pixel]}, shape_.in_width);
      const GridTaps y = TapsOf(shape_, double{grid[2 * pixel + 1]}, shape_.in_height);
      for (size_t k = 0; k < taps_; ++k) {
        const size_t i = k / side;
        const size_t j = k % side;
        const bool inside = y.indices[i] >= 0 && x.indices[j] >= 0;
        neighbours.offsets[k][at] =
            inside ? static_cast<int32_t>(y.indices[i] * shape_.in_width + x.indices[j]) : -1;
        neighbours.weights[k][at] = static_cast<float>(y.weights[i] * x.weights[j]);
      }
    }
  }

  void Sample(const float* __restrict image, int64_t count, const Neighbours& neighbours,
              float* __restrict out) const {
    const auto element = [&](size_t tap, size_t pixel) {
      // Loaded in any case, so that compilers see no branch.
      const int32_t offset = neighbours.offsets[tap][pixel];
      const float value = image[offset < 0 ? 0 : offset];
      return offset < 0 ? 0.0F : value;
    };
    const auto pixels = static_cast<size_t>(count);
    if (taps_ == 1) {
      for (size_t i = 0; i < pixels; ++i) out[i] = element(0, i);
      return;
    }
    for (size_t i = 0; i < pixels; ++i) out[i] = element(0, i) * neighbours.weights[0][i];
    for (size_t tap = 1; tap < taps_; ++tap) {
      for (size_t i = 0; i < pixels; ++i) out[i] += element(tap, i) * neighbours.weights[tap][i];
    }
  }

  GridSampleShape shape_;
  int64_t out_plane_;
  int64_t tiles_;
  size_t taps_;
  int threads_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeGridSample(const NodeSignature& signature,
                                               const KernelOptions& options) {
  TINYPROF_RETURN_IF_ERROR(RequireFloat32(signature));
  TINYPROF_ASSIGN_OR_RETURN(const GridSampleShape shape, GridSampleShapeOf(signature));
  if (shape.in_height * shape.in_width > INT32_MAX) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL", "the images have more than 2^31 pixels");
  }
  return std::make_unique<GridSample>(shape, options.threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
