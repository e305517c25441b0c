// DFT and STFT on Eigen: the frames of the signals times the matrix of the transform.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/matmul/eigen_product.h"
#include "kernels/ops/packing_kernel.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/signal/signal.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// Longer transforms are left to the naive kernel, which keeps no matrix.
constexpr int64_t kMaxMatrixBytes = int64_t{32} << 20;
constexpr int64_t kAlignment = 64;

int64_t MatrixElements(const FourierShape& shape) {
  return shape.length * shape.parts * shape.bins * 2;
}

class FourierProduct final : public PackingKernel {
 public:
  // `window_input` is 0 where there is none.
  FourierProduct(FourierShape shape, size_t window_input, BatchedProduct product, int threads)
      : shape_(std::move(shape)),
        window_input_(window_input),
        rows_(shape_.outer * shape_.frames),
        width_(shape_.length * shape_.parts),
        threads_(ThreadsFor(rows_ * width_, threads)),
        product_(std::move(product)) {}
  std::string implementation() const override { return "matrix by " + product_.implementation(); }
  int64_t scratch_bytes() const override { return frame_bytes() + product_.scratch_bytes(); }
  int64_t packed_bytes() const override { return MatrixElements(shape_) * int64_t{sizeof(float)}; }

  // Row by sample and part, a column for the real and the imaginary part of each frequency.
  Status Pack(std::span<std::byte> packed) override {
    auto* matrix = reinterpret_cast<float*>(packed.data());
    const double divisor = shape_.inverse ? static_cast<double>(shape_.length) : 1;
    std::vector<double> cosines;
    std::vector<double> sines;
    for (int64_t i = 0; i < shape_.length; ++i) {
      const double turn =
          2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(shape_.length);
      cosines.push_back(std::cos(turn) / divisor);
      sines.push_back((shape_.inverse ? std::sin(turn) : -std::sin(turn)) / divisor);
    }
    for (int64_t i = 0; i < shape_.length; ++i) {
      for (int64_t part = 0; part < shape_.parts; ++part) {
        for (int64_t bin = 0; bin < shape_.bins; ++bin) {
          const auto turn = static_cast<size_t>(i * bin % shape_.length);
          *matrix++ = static_cast<float>(part == 0 ? cosines[turn] : -sines[turn]);
          *matrix++ = static_cast<float>(part == 0 ? sines[turn] : cosines[turn]);
        }
      }
    }
    matrix_ = reinterpret_cast<const float*>(packed.data());
    return {};
  }

  void Run(const KernelArgs& args) const noexcept override {
    auto* frames = reinterpret_cast<float*>(args.scratch.data());
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int64_t row = 0; row < rows_; ++row) CopyFrame(args, row, frames + row * width_);
    product_.Run(frames, matrix_, args.Out<float>(),
                 args.scratch.subspan(static_cast<size_t>(frame_bytes())));
  }

 private:
  int64_t frame_bytes() const {
    const int64_t bytes = rows_ * width_ * int64_t{sizeof(float)};
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // One frame with its window, and zeros where the signal has ended.
  void CopyFrame(const KernelArgs& args, int64_t row, float* out) const {
    const int64_t first = row % shape_.frames * shape_.step;
    const int64_t end = std::min(shape_.length, shape_.samples - first);
    const float* signal =
        args.In<float>(0) + (row / shape_.frames * shape_.samples + first) * shape_.parts;
    const bool has_window = window_input_ != 0 && args.has_input(window_input_);
    const float* window = has_window ? args.In<float>(window_input_) : nullptr;
    for (int64_t i = 0; i < end; ++i) {
      for (int64_t part = 0; part < shape_.parts; ++part) {
        const float sample = signal[i * shape_.parts + part];
        out[i * shape_.parts + part] = has_window ? sample * window[i] : sample;
      }
    }
    std::fill(out + end * shape_.parts, out + width_, 0.0F);
  }

  FourierShape shape_;
  size_t window_input_;
  int64_t rows_;
  int64_t width_;
  int threads_;
  BatchedProduct product_;
  const float* matrix_ = nullptr;
};

template <Result<FourierShape> (*shape_of)(const NodeSignature& signature), size_t window_input>
Result<std::unique_ptr<Kernel>> Make(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_RETURN_IF_ERROR(RequireFloat32(signature));
  TINYPROF_ASSIGN_OR_RETURN(FourierShape shape, shape_of(signature));
  const bool is_long = shape.length > kMaxMatrixBytes ||
                       MatrixElements(shape) * int64_t{sizeof(float)} > kMaxMatrixBytes;
  if (is_long || shape.inner != 1 || shape.output.element_count() == 0) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                "the Eigen backend transforms short signals of neighbouring samples only");
  }
  TINYPROF_ASSIGN_OR_RETURN(BatchedProduct product,
                            BatchedProduct::Create(1, shape.outer * shape.frames, 2 * shape.bins,
                                                   shape.length * shape.parts, options.threads));
  return std::make_unique<FourierProduct>(std::move(shape), window_input, std::move(product),
                                          options.threads);
}

constexpr std::array kKernels = {EigenKernel{"DFT", Make<DftShapeOf, 0>},
                                 EigenKernel{"STFT", Make<StftShapeOf, 2>}};

}  // namespace

std::span<const EigenKernel> SignalEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
