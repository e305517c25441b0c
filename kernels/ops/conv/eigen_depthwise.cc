#include <Eigen/Core>
#include <algorithm>

#include "kernels/ops/conv/eigen_conv.h"
#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

class ConvDepthwise final : public Kernel {
 public:
  ConvDepthwise(const ConvShape& shape, const Epilogue& epilogue, int threads)
      : shape_(shape),
        epilogue_(epilogue),
        threads_(ThreadsFor(
            shape.batch * shape.out_channels * shape.tap_count() * shape.position_count() / 4,
            threads)) {}

  std::string implementation() const override { return "depthwise"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int64_t plane = 0; plane < shape_.batch * shape_.out_channels; ++plane) {
      RunPlane(args, plane);
    }
  }

 private:
  void RunPlane(const KernelArgs& args, int64_t plane) const {
    const int64_t channel = plane % shape_.out_channels;
    const int64_t input_plane =
        plane / shape_.out_channels * shape_.in_channels + channel / shape_.out_group();
    const float* x = args.In<float>(0) + input_plane * shape_.extent_count();
    const float* weights = args.In<float>(1) + channel * shape_.tap_count();
    const float bias = args.has_input(2) ? args.In<float>(2)[channel] : 0.0F;
    float* out = args.Out<float>() + plane * shape_.position_count();
    for (int64_t z = 0; z < shape_.axes[0].positions; ++z) {
      for (int64_t y = 0; y < shape_.axes[1].positions; ++y) {
        std::fill_n(out, shape_.axes[2].positions, bias);
        AddLine(x, weights, z, y, out);
        out += shape_.axes[2].positions;
      }
    }
    epilogue_.RunOnPlane(args, plane * shape_.position_count(), shape_.position_count(), channel);
  }

  // Adds all taps of the line (z, y) of places.
  void AddLine(const float* x, const float* weights, int64_t z, int64_t y, float* out) const {
    const auto& [depth, height, width] = shape_.axes;
    for (int64_t i = 0; i < depth.kernel; ++i) {
      const int64_t from_z = depth.Element(z, i);
      if (from_z < 0 || from_z >= depth.extent) continue;
      for (int64_t j = 0; j < height.kernel; ++j) {
        const int64_t from_y = height.Element(y, j);
        if (from_y < 0 || from_y >= height.extent) continue;
        const float* line = x + (from_z * height.extent + from_y) * width.extent;
        const float* line_weights = weights + (i * height.kernel + j) * width.kernel;
        for (int64_t k = 0; k < width.kernel; ++k) AddTap(line, line_weights[k], k, out);
      }
    }
  }

  void AddTap(const float* line, float weight, int64_t tap, float* out) const {
    const ConvAxis& width = shape_.axes[2];
    const ConvAxis::Range range = width.ValidPositions(tap);
    const int64_t count = range.end - range.begin;
    Eigen::Map<Eigen::ArrayXf> sum(out + range.begin, count);
    const float* from = line + width.Element(range.begin, tap);
    if (width.stride == 1) {
      sum += weight * Eigen::Map<const Eigen::ArrayXf>(from, count);
      return;
    }
    for (int64_t i = 0; i < count; ++i) sum[i] += weight * from[i * width.stride];
  }

  ConvShape shape_;
  Epilogue epilogue_;
  int threads_;
};

}  // namespace

std::unique_ptr<Kernel> MakeConvDepthwise(const ConvShape& shape, const Epilogue& epilogue,
                                          int threads) {
  return std::make_unique<ConvDepthwise>(shape, epilogue, threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
