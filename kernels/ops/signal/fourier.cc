#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/dtypes.h"
#include "kernels/ops/number_kernel.h"
#include "kernels/ops/onnx_types.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/signal/signal.h"

namespace tinyprof {
namespace {

using Types = std::vector<TensorType>;
using KernelResult = Result<std::unique_ptr<Kernel>>;

constexpr int64_t kMaxLength = int64_t{1} << 24;

Result<int64_t> KnownLength(const NodeSignature& signature, size_t index, std::string_view what) {
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> list, KnownInts(signature, index, what));
  if (list.size() == 1 && list[0] >= 1 && list[0] <= kMaxLength) return list[0];
  return ShapeMismatch(signature, fmt::format("the {} must be one number of at least 1", what));
}

// The last dimension of a signal: 1 for real samples, 2 for complex ones.
Result<int64_t> PartsOf(const NodeSignature& signature) {
  const int64_t parts = signature.input(0).shape.back();
  if (parts == 1 || parts == 2) return parts;
  return ShapeMismatch(signature, fmt::format("the last dimension is {}, wanted 1 (real) or 2 "
                                              "(complex)",
                                              parts));
}

template <class T>
class FourierKernel final : public Kernel {
 public:
  // `window_input` is 0 where there is none.
  FourierKernel(FourierShape shape, size_t window_input, int threads)
      : shape_(std::move(shape)),
        window_input_(window_input),
        rows_(shape_.outer * shape_.inner * shape_.frames),
        threads_(ThreadsFor(rows_ * shape_.bins * shape_.length, threads)) {
    for (int64_t i = 0; i < shape_.length; ++i) {
      const double turn =
          2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(shape_.length);
      cosines_.push_back(static_cast<T>(std::cos(turn)));
      sines_.push_back(static_cast<T>(shape_.inverse ? std::sin(turn) : -std::sin(turn)));
    }
  }
  std::string implementation() const override { return "matrix"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int64_t row = 0; row < rows_; ++row) {
      const int64_t frame = row % shape_.frames;
      const int64_t signal = row / shape_.frames;
      const int64_t inner = signal % shape_.inner;
      const int64_t outer = signal / shape_.inner;
      for (int64_t bin = 0; bin < shape_.bins; ++bin) {
        WriteBin(args, outer * shape_.samples * shape_.inner + inner, frame * shape_.step, bin,
                 ((outer * shape_.frames + frame) * shape_.bins + bin) * shape_.inner + inner);
      }
    }
  }

 private:
  void WriteBin(const KernelArgs& args, int64_t signal, int64_t first, int64_t bin,
                int64_t to) const {
    const T* x = args.In<T>(0);
    const T* window =
        args.has_input(window_input_) && window_input_ != 0 ? args.In<T>(window_input_) : nullptr;
    const int64_t end = std::min(shape_.length, shape_.samples - first);
    T real = 0;
    T imaginary = 0;
    int64_t turn = 0;
    for (int64_t i = 0; i < end; ++i) {
      const int64_t at = (signal + (first + i) * shape_.inner) * shape_.parts;
      const auto angle = static_cast<size_t>(turn);
      const T weight = window == nullptr ? T(1) : window[i];
      const T own = x[at] * weight;
      real += own * cosines_[angle];
      imaginary += own * sines_[angle];
      if (shape_.parts == 2) {
        const T other = x[at + 1] * weight;
        real -= other * sines_[angle];
        imaginary += other * cosines_[angle];
      }
      turn = (turn + bin) % shape_.length;
    }
    const T divisor = shape_.inverse ? static_cast<T>(shape_.length) : T(1);
    args.Out<T>()[2 * to] = real / divisor;
    args.Out<T>()[2 * to + 1] = imaginary / divisor;
  }

  FourierShape shape_;
  size_t window_input_;
  int64_t rows_;
  int threads_;
  std::vector<T> cosines_;
  std::vector<T> sines_;
};

Result<Cost> FourierCost(const FourierShape& shape) {
  Cost cost;
  TINYPROF_ASSIGN_OR_RETURN(const int64_t outputs,
                            CheckedProduct({shape.outer, shape.inner, shape.frames, shape.bins}));
  TINYPROF_ASSIGN_OR_RETURN(cost.flops.mac,
                            CheckedProduct({outputs, shape.length, 2 * shape.parts}));
  cost.valid_tap_mac_count = cost.flops.mac;
  if (shape.inverse) cost.flops.add_mul_div = 2 * outputs;
  return cost;
}

Result<Types> InferFourier(const NodeSignature& signature, size_t output_count,
                           Result<FourierShape> shape) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  if (!shape) return tl::unexpected<Error>(std::move(shape).error());
  return Types{{signature.input(0).dtype, std::move(shape->output)}};
}

}  // namespace

Result<FourierShape> DftShapeOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 2));
  const Shape& shape = signature.input(0).shape;
  FourierShape fourier{.inverse = signature.Int("inverse", 0) != 0};
  TINYPROF_ASSIGN_OR_RETURN(fourier.parts, PartsOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(const size_t axis,
                            NormalizeAxis(signature, signature.Int("axis", 1), shape.rank()));
  if (axis + 1 == shape.rank()) return BadAttribute(signature, "the axis is that of the parts");
  fourier.samples = shape[axis];
  fourier.length = shape[axis];
  if (signature.has_input(1)) {
    TINYPROF_ASSIGN_OR_RETURN(fourier.length, KnownLength(signature, 1, "length"));
  }
  if (fourier.length < 1 || fourier.length > kMaxLength) {
    return ShapeMismatch(signature, fmt::format("a transform of {} samples, wanted 1 to {}",
                                                fourier.length, kMaxLength));
  }
  const bool one_sided = signature.Int("onesided", 0) != 0;
  fourier.bins = one_sided ? fourier.length / 2 + 1 : fourier.length;
  for (size_t d = 0; d < axis; ++d) fourier.outer *= shape[d];
  for (size_t d = axis + 1; d + 1 < shape.rank(); ++d) fourier.inner *= shape[d];
  std::vector<int64_t> dims = shape.dims();
  dims[axis] = fourier.bins;
  dims.back() = 2;
  TINYPROF_ASSIGN_OR_RETURN(fourier.output, Shape::Create(std::move(dims)));
  return fourier;
}

Result<FourierShape> StftShapeOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 3, 3));
  const Shape& shape = signature.input(0).shape;
  FourierShape fourier{.outer = shape[0], .samples = shape[1]};
  TINYPROF_ASSIGN_OR_RETURN(fourier.parts, PartsOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(fourier.step, KnownLength(signature, 1, "step"));
  if (signature.has_input(2)) {
    TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 2, 1, 1));
    fourier.length = signature.input(2).shape[0];
  }
  if (signature.has_input(3)) {
    TINYPROF_ASSIGN_OR_RETURN(fourier.length, KnownLength(signature, 3, "length of a frame"));
    TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 2, "window", Shape{fourier.length}));
  }
  if (fourier.length < 1 || fourier.length > std::min(fourier.samples, kMaxLength)) {
    return ShapeMismatch(signature, fmt::format("frames of {} do not fit a signal of {}",
                                                fourier.length, fourier.samples));
  }
  fourier.frames = (fourier.samples - fourier.length) / fourier.step + 1;
  const bool one_sided = signature.Int("onesided", 1) != 0;
  fourier.bins = one_sided ? fourier.length / 2 + 1 : fourier.length;
  TINYPROF_ASSIGN_OR_RETURN(fourier.output,
                            Shape::Create({fourier.outer, fourier.frames, fourier.bins, 2}));
  return fourier;
}

Result<Types> InferDft(const NodeSignature& signature, size_t output_count) {
  return InferFourier(signature, output_count, DftShapeOf(signature));
}

Result<Types> InferStft(const NodeSignature& signature, size_t output_count) {
  if (signature.has_input(2) && signature.input(2).dtype != signature.input(0).dtype) {
    return ShapeMismatch(signature, "the window has another type than the signal");
  }
  return InferFourier(signature, output_count, StftShapeOf(signature));
}

Result<Cost> DftCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const FourierShape shape, DftShapeOf(signature));
  return FourierCost(shape);
}

Result<Cost> StftCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const FourierShape shape, StftShapeOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(Cost cost, FourierCost(shape));
  if (signature.has_input(2)) {
    cost.flops.add_mul_div += shape.outer * shape.frames * shape.length * shape.parts;
  }
  return cost;
}

KernelResult MakeDftKernel(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(FourierShape shape, DftShapeOf(signature));
  return MakeForNumber<FourierKernel>(signature, std::move(shape), size_t{0}, options.threads);
}

KernelResult MakeStftKernel(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(FourierShape shape, StftShapeOf(signature));
  return MakeForNumber<FourierKernel>(signature, std::move(shape), size_t{2}, options.threads);
}

}  // namespace tinyprof
