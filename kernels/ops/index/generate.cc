// OneHot, Range and EyeLike: tensors made from few numbers.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/ops/convert.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/dtypes.h"
#include "kernels/ops/elementwise/binary_functors.h"
#include "kernels/ops/index/index.h"
#include "kernels/ops/number_kernel.h"
#include "kernels/ops/onnx_types.h"
#include "kernels/ops/partition.h"

namespace tinyprof {
namespace {

// The output of OneHot as [outer, depth, inner], with one index for each outer and inner.
struct OneHotLayout {
  size_t axis = 0;  // of the output
  int64_t depth = 0;
  int64_t outer = 1;
  int64_t inner = 1;
};

Result<OneHotLayout> OneHotLayoutOf(const NodeSignature& signature) {
  const Shape& indices = signature.input(0).shape;
  OneHotLayout layout;
  TINYPROF_ASSIGN_OR_RETURN(
      layout.axis, NormalizeAxis(signature, signature.Int("axis", -1), indices.rank() + 1));
  TINYPROF_ASSIGN_OR_RETURN(const double depth, KnownNumber(signature, 1, "depth"));
  if (!(depth >= 1 && depth <= static_cast<double>(Shape::kMaxElementCount))) {
    return ShapeMismatch(signature, fmt::format("depth is {}, wanted at least 1", depth));
  }
  layout.depth = static_cast<int64_t>(depth);
  for (size_t d = 0; d < indices.rank(); ++d) {
    (d < layout.axis ? layout.outer : layout.inner) *= indices[d];
  }
  return layout;
}

// T is the type of the indices.
template <class T>
class OneHotKernel final : public Kernel {
 public:
  OneHotKernel(const OneHotLayout& layout, int64_t element_bytes)
      : layout_(layout), element_bytes_(element_bytes) {}
  std::string implementation() const override { return "fill"; }

  void Run(const KernelArgs& args) const noexcept override {
    const auto* off = args.In<std::byte>(2);
    const auto* on = off + element_bytes_;
    auto* out = args.Out<std::byte>();
    for (int64_t outer = 0; outer < layout_.outer; ++outer) {
      for (int64_t hot = 0; hot < layout_.depth; ++hot) {
        for (int64_t inner = 0; inner < layout_.inner; ++inner) {
          const int64_t index = IndexOf(args.In<T>(0)[outer * layout_.inner + inner]);
          // What is outside of [-depth, depth) is hot nowhere.
          const int64_t wanted = index < 0 ? index + layout_.depth : index;
          std::memcpy(out, wanted == hot ? on : off, static_cast<size_t>(element_bytes_));
          out += element_bytes_;
        }
      }
    }
  }

 private:
  // What is no number, or far away, is an index of nothing.
  static int64_t IndexOf(T number) {
    if constexpr (std::is_floating_point_v<T>) {
      if (!(std::fabs(number) < 1e15)) return INT64_MIN;
    }
    return static_cast<int64_t>(number);
  }

  OneHotLayout layout_;
  int64_t element_bytes_;
};

template <class T>
class RangeKernel final : public Kernel {
 public:
  RangeKernel(int64_t count, int threads) : count_(count), threads_(ThreadsFor(count, threads)) {}
  std::string implementation() const override { return "fill"; }
  void Run(const KernelArgs& args) const noexcept override {
    const T start = *args.In<T>(0);
    const T step = *args.In<T>(2);
#pragma omp parallel for num_threads(threads_)
    for (int64_t i = 0; i < count_; ++i) {
      args.Out<T>()[i] = Add::Apply(start, Mul::Apply(static_cast<T>(i), step));
    }
  }

 private:
  int64_t count_;
  int threads_;
};

class EyeKernel final : public Kernel {
 public:
  EyeKernel(const TensorType& type, int64_t diagonal)
      : rows_(type.shape[0]),
        columns_(type.shape[1]),
        element_bytes_(ByteSize(type.dtype)),
        diagonal_(diagonal) {
    const double one = 1;
    FindConversion(DType::kFloat64, type.dtype)(&one, one_.data(), 0, 1);
  }
  std::string implementation() const override { return "fill"; }
  void Run(const KernelArgs& args) const noexcept override {
    auto* out = args.Out<std::byte>();
    const int64_t bytes = rows_ * columns_ * element_bytes_;
    if (bytes > 0) std::memset(out, 0, static_cast<size_t>(bytes));
    for (int64_t row = 0; row < rows_; ++row) {
      const int64_t column = row + diagonal_;
      if (column < 0 || column >= columns_) continue;
      std::memcpy(out + (row * columns_ + column) * element_bytes_, one_.data(),
                  static_cast<size_t>(element_bytes_));
    }
  }

 private:
  int64_t rows_;
  int64_t columns_;
  int64_t element_bytes_;
  int64_t diagonal_;
  std::array<std::byte, 8> one_{};
};

}  // namespace

Result<Types> InferOneHot(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 2, "values", Shape{2}));
  TINYPROF_ASSIGN_OR_RETURN(const OneHotLayout layout, OneHotLayoutOf(signature));
  std::vector<int64_t> dims = signature.input(0).shape.dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(layout.axis), layout.depth);
  Result<Shape> shape = Shape::Create(std::move(dims));
  if (!shape) return ShapeMismatch(signature, shape.error().message);
  return Types{{signature.input(2).dtype, *std::move(shape)}};
}

KernelResult MakeOneHotKernel(const NodeSignature& signature, const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(const OneHotLayout layout, OneHotLayoutOf(signature));
  return MakeForNumber<OneHotKernel>(signature, layout, ByteSize(signature.input(2).dtype));
}

Result<Types> InferRange(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_ASSIGN_OR_RETURN(const double start, KnownNumber(signature, 0, "start"));
  TINYPROF_ASSIGN_OR_RETURN(const double limit, KnownNumber(signature, 1, "limit"));
  TINYPROF_ASSIGN_OR_RETURN(const double step, KnownNumber(signature, 2, "delta"));
  const double count = std::max(std::ceil((limit - start) / step), 0.0);
  if (!(count <= static_cast<double>(Shape::kMaxElementCount))) {
    return ShapeMismatch(
        signature, fmt::format("the range from {} to {} by {} has no end", start, limit, step));
  }
  return Types{{signature.input(0).dtype, Shape{static_cast<int64_t>(count)}}};
}

Result<Cost> RangeCost(const NodeSignature& signature) {
  if (!IsFloating(signature.output().dtype)) return Cost{};
  return PerElementCost({.add_mul_div = 2}, signature.output().shape.element_count());
}

KernelResult MakeRangeKernel(const NodeSignature& signature, const KernelOptions& options) {
  return MakeForNumber<RangeKernel>(signature, signature.output().shape.element_count(),
                                    options.threads);
}

Result<Types> InferEyeLike(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 2, 2));
  DType dtype = signature.input(0).dtype;
  if (signature.has_attribute("dtype")) {
    const std::optional<DType> wanted = DTypeOfOnnxNumber(signature.Int("dtype", 0));
    if (!wanted) return BadAttribute(signature, "dtype is no type that is supported");
    dtype = *wanted;
  }
  return Types{{dtype, signature.input(0).shape}};
}

KernelResult MakeEyeLikeKernel(const NodeSignature& signature, const KernelOptions& /*options*/) {
  return std::make_unique<EyeKernel>(signature.output(), signature.Int("k", 0));
}

}  // namespace tinyprof
