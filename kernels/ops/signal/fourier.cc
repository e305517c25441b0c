#include <fmt/format.h>

#include <algorithm>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/dtypes.h"
#include "kernels/ops/number_kernel.h"
#include "kernels/ops/onnx_types.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/signal/fourier_reference.h"
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
  FourierKernel(const FourierShape& shape, size_t window_input, int threads)
      : loop_(shape),
        window_input_(window_input),
        threads_(ThreadsFor(loop_.row_count() * shape.bins * shape.length, threads)) {}
  std::string implementation() const override { return "matrix"; }
  int64_t scratch_bytes() const override {
    return loop_.frame_elements() * threads_ * static_cast<int64_t>(sizeof(T));
  }

  void Run(const KernelArgs& args) const noexcept override {
    const T* window =
        window_input_ != 0 && args.has_input(window_input_) ? args.In<T>(window_input_) : nullptr;
#pragma omp parallel for num_threads(threads_)
    for (int thread = 0; thread < threads_; ++thread) {
      T* frame = reinterpret_cast<T*>(args.scratch.data()) + thread * loop_.frame_elements();
      const Partition part = PartOf(loop_.row_count(), thread, threads_);
      for (int64_t row = part.begin; row < part.end; ++row) {
        loop_.RunRow(row, args.In<T>(0), window, frame, args.Out<T>());
      }
    }
  }

 private:
  FourierLoop<T> loop_;
  size_t window_input_;
  int threads_;
};

Result<Cost> FourierCost(const FourierShape& shape) {
  Cost cost;
  TINYPROF_ASSIGN_OR_RETURN(const int64_t outputs,
                            CheckedProduct({shape.outer, shape.inner, shape.frames, shape.bins}));
  TINYPROF_ASSIGN_OR_RETURN(cost.flops.mac,
                            CheckedProduct({outputs, shape.length, 2 * shape.parts}));
  const int64_t present = std::min(shape.length, shape.samples);
  TINYPROF_ASSIGN_OR_RETURN(cost.valid_tap_mac_count,
                            CheckedProduct({outputs, present, 2 * shape.parts}));
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
  TINYPROF_ASSIGN_OR_RETURN(const FourierShape shape, DftShapeOf(signature));
  return MakeForNumber<FourierKernel>(signature, shape, size_t{0}, options.threads);
}

KernelResult MakeStftKernel(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const FourierShape shape, StftShapeOf(signature));
  return MakeForNumber<FourierKernel>(signature, shape, size_t{2}, options.threads);
}

}  // namespace tinyprof
