// The pools on Eigen: windows line by line, global pools by Eigen's reductions.
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/pool/pool_shape.h"
#include "kernels/ops/scalar_math.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

enum class Mode { kMax, kAverage };

template <Mode mode>
class GlobalPool final : public Kernel {
 public:
  GlobalPool(const PoolShape& shape, int threads)
      : planes_(shape.planes),
        length_(shape.axes[2].input),
        threads_(ThreadsFor(planes_ * length_, threads)) {}
  std::string implementation() const override { return "reduction"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int64_t plane = 0; plane < planes_; ++plane) {
      const Eigen::Map<const Eigen::ArrayXf> x(args.In<float>(0) + plane * length_, length_);
      float& out = args.Out<float>()[plane];
      if constexpr (mode == Mode::kMax) {
        out = x.template maxCoeff<Eigen::PropagateNaN>();
      } else {
        out = x.sum() / static_cast<float>(length_);
      }
    }
  }

 private:
  int64_t planes_;
  int64_t length_;
  int threads_;
};

// What a window begins with; each holds an element, which replaces it.
template <class E, Mode mode>
constexpr E Start() {
  if constexpr (mode == Mode::kAverage) return E(0);
  if constexpr (std::is_integral_v<E>) return std::numeric_limits<E>::lowest();
  return -std::numeric_limits<E>::infinity();
}

template <class E, Mode mode>
class WindowPool final : public Kernel {
 public:
  WindowPool(const PoolShape& shape, int threads)
      : shape_(shape),
        threads_(ThreadsFor(shape.output.element_count() * shape.tap_count(), threads)) {}
  std::string implementation() const override { return "line windows"; }
  int64_t scratch_bytes() const override { return line_bytes() * threads_; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      auto* line = reinterpret_cast<E*>(args.scratch.data() + thread * line_bytes());
      const Partition part = PartOf(shape_.planes, thread, threads_);
      for (int64_t plane = part.begin; plane < part.end; ++plane) RunPlane(args, plane, line);
    }
  }

 private:
  int64_t line_bytes() const { return (shape_.axes[2].input * int64_t{sizeof(E)} + 63) / 64 * 64; }

  void RunPlane(const KernelArgs& args, int64_t plane, E* line) const {
    const E* x = args.In<E>(0) + plane * shape_.input_count();
    E* out = args.Out<E>() + plane * shape_.output_count();
    for (int64_t z = 0; z < shape_.axes[0].output; ++z) {
      for (int64_t y = 0; y < shape_.axes[1].output; ++y) {
        RunLine(x, z, y, line, out);
        out += shape_.axes[2].output;
      }
    }
  }

  // Folds the lines of input that the windows see into one, then the taps along that.
  void RunLine(const E* x, int64_t z, int64_t y, E* folded, E* out) const {
    const auto& [depth, height, width] = shape_.axes;
    constexpr E kStart = Start<E, mode>();
    std::fill_n(out, width.output, kStart);
    std::fill_n(folded, width.input, kStart);
    const PoolAxis::Range deep = depth.ValidTaps(z);
    const PoolAxis::Range high = height.ValidTaps(y);
    for (int64_t i = deep.begin; i < deep.end; ++i) {
      for (int64_t j = high.begin; j < high.end; ++j) {
        const int64_t line = depth.Element(z, i) * height.input + height.Element(y, j);
        FoldStrided(x + line * width.input, 1, 0, width.input, folded);
      }
    }
    for (int64_t k = 0; k < width.window.kernel; ++k) FoldTap(folded, k, out);
    if constexpr (mode == Mode::kAverage) Divide(z, y, out);
  }

  // Folds tap `k` of every window of the line that has it inside the input.
  void FoldTap(const E* line, int64_t tap, E* out) const {
    const PoolAxis& width = shape_.axes[2];
    const int64_t stride = width.window.stride;
    const int64_t offset = tap * width.window.dilation - width.window.pad_begin;
    const int64_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    const int64_t inside = width.input - offset;
    const int64_t end =
        std::min(width.output, inside <= 0 ? int64_t{0} : (inside - 1) / stride + 1);
    if (stride == 1) return FoldStrided(line + offset, 1, begin, end, out);
    if (stride == 2) return FoldStrided(line + offset, 2, begin, end, out);
    FoldStrided(line + offset, stride, begin, end, out);
  }

  [[gnu::always_inline]] static inline void FoldStrided(const E* from, int64_t stride,
                                                        int64_t begin, int64_t end, E* out) {
    for (int64_t i = begin; i < end; ++i) {
      const E element = from[i * stride];
      out[i] = mode == Mode::kMax ? Max(out[i], element) : out[i] + element;
    }
  }

  void Divide(int64_t z, int64_t y, E* out) const {
    const auto& [depth, height, width] = shape_.axes;
    const int64_t lines = TapCount(depth, z) * TapCount(height, y);
    for (int64_t i = 0; i < width.output; ++i) {
      out[i] /= static_cast<E>(lines * TapCount(width, i));
    }
  }

  // The taps that count in the divisor of an average.
  int64_t TapCount(const PoolAxis& axis, int64_t position) const {
    if (shape_.count_include_pad) return axis.PaddedTapCount(position);
    const PoolAxis::Range taps = axis.ValidTaps(position);
    return taps.end - taps.begin;
  }

  PoolShape shape_;
  int threads_;
};

using ShapeFn = Result<PoolShape> (*)(const NodeSignature& signature);

template <class PoolKernel, ShapeFn shape_of>
Result<std::unique_ptr<Kernel>> Make(const NodeSignature& signature, const KernelOptions& options) {
  if (signature.output().dtype != DType::kFloat32 || signature.outputs.size() > 1) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                "the Eigen pools are for float32, a maximum also for bytes, and give no indices");
  }
  TINYPROF_ASSIGN_OR_RETURN(const PoolShape shape, shape_of(signature));
  return std::make_unique<PoolKernel>(shape, options.threads);
}

// Bytes are as they are in quantized networks.
Result<std::unique_ptr<Kernel>> MakeMaxPool(const NodeSignature& signature,
                                            const KernelOptions& options) {
  const DType dtype = signature.output().dtype;
  if (signature.outputs.size() > 1 || (dtype != DType::kUInt8 && dtype != DType::kInt8)) {
    return Make<WindowPool<float, Mode::kMax>, PoolShapeOf>(signature, options);
  }
  TINYPROF_ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(signature));
  if (dtype == DType::kInt8) {
    return std::make_unique<WindowPool<int8_t, Mode::kMax>>(shape, options.threads);
  }
  return std::make_unique<WindowPool<uint8_t, Mode::kMax>>(shape, options.threads);
}

constexpr std::array kKernels = {
    EigenKernel{"MaxPool", MakeMaxPool},
    EigenKernel{"AveragePool", Make<WindowPool<float, Mode::kAverage>, PoolShapeOf>},
    EigenKernel{"GlobalMaxPool", Make<GlobalPool<Mode::kMax>, GlobalPoolShapeOf>},
    EigenKernel{"GlobalAveragePool", Make<GlobalPool<Mode::kAverage>, GlobalPoolShapeOf>},
};

}  // namespace

std::span<const EigenKernel> PoolEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
