#include "kernels/ops/reduce/along_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kernels/ops/cost_math.h"
#include "kernels/ops/dtypes.h"
#include "kernels/ops/elementwise/binary_functors.h"
#include "kernels/ops/number_kernel.h"
#include "kernels/ops/partition.h"

namespace tinyprof {
namespace {

using Types = std::vector<TensorType>;

// The tensor as [outer, length, inner].
struct AxisLayout {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;

  int64_t line_count() const { return outer * inner; }
  // The first element of line `i`; its elements are `inner` apart.
  int64_t line_begin(int64_t i) const { return i / inner * length * inner + i % inner; }
};

Result<AxisLayout> LayoutOf(const NodeSignature& signature, int64_t axis) {
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const size_t at, NormalizeAxis(signature, axis, shape.rank()));
  AxisLayout layout{.length = shape[at], .inner = shape.stride(at)};
  for (size_t d = 0; d < at; ++d) layout.outer *= shape[d];
  return layout;
}

Result<AxisLayout> CumSumLayout(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> axis, KnownInts(signature, 1, "axis"));
  if (axis.size() != 1) return ShapeMismatch(signature, "the axis is not one number");
  return LayoutOf(signature, axis[0]);
}

Result<AxisLayout> TopKLayout(const NodeSignature& signature) {
  return LayoutOf(signature, signature.Int("axis", -1));
}

// Calls run(line) for each line, shared among the threads.
template <class Run>
void ForEachLine(const AxisLayout& layout, int threads, const Run& run) {
  const int64_t lines = layout.length == 0 ? 0 : layout.line_count();
#pragma omp parallel for num_threads(threads)
  for (int64_t line = 0; line < lines; ++line) run(line);
}

template <class T>
class CumSumKernel final : public Kernel {
 public:
  CumSumKernel(const AxisLayout& layout, const NodeSignature& signature, int threads)
      : layout_(layout),
        exclusive_(signature.Int("exclusive", 0) != 0),
        reverse_(signature.Int("reverse", 0) != 0),
        threads_(ThreadsFor(layout.line_count() * layout.length, threads)) {}
  std::string implementation() const override { return "scan"; }

  void Run(const KernelArgs& args) const noexcept override {
    ForEachLine(layout_, threads_, [&](int64_t line) {
      const int64_t step = reverse_ ? -layout_.inner : layout_.inner;
      const int64_t begin =
          layout_.line_begin(line) + (reverse_ ? (layout_.length - 1) * layout_.inner : 0);
      const T* x = args.In<T>(0) + begin;
      T* y = args.Out<T>() + begin;
      if (exclusive_) {
        y[0] = 0;
        if (layout_.length > 1) y[step] = x[0];
        for (int64_t i = 2; i < layout_.length; ++i) {
          y[i * step] = Add::Apply(y[(i - 1) * step], x[(i - 1) * step]);
        }
        return;
      }
      y[0] = x[0];
      for (int64_t i = 1; i < layout_.length; ++i) {
        y[i * step] = Add::Apply(y[(i - 1) * step], x[i * step]);
      }
    });
  }

 private:
  AxisLayout layout_;
  bool exclusive_;
  bool reverse_;
  int threads_;
};

Result<int64_t> CountOfTopK(const NodeSignature& signature, int64_t length) {
  std::vector<int64_t> k{signature.Int("k", 0)};
  if (!signature.has_attribute("k")) {
    TINYPROF_ASSIGN_OR_RETURN(k, KnownInts(signature, "k", 1, "k"));
  }
  if (k.size() == 1 && k[0] >= 0 && k[0] <= length) return k[0];
  return ShapeMismatch(signature, fmt::format("k must be one number from 0 to {}", length));
}

// Sorts the indices of each line in scratch, a line of indices for each thread.
template <class T>
class TopKKernel final : public Kernel {
 public:
  TopKKernel(const AxisLayout& layout, int64_t k, bool largest, int threads)
      : layout_(layout),
        k_(k),
        largest_(largest),
        threads_(ThreadsFor(layout.line_count() * layout.length, threads)) {}
  std::string implementation() const override { return "partial sort"; }
  int64_t scratch_bytes() const override {
    return threads_ * layout_.length * static_cast<int64_t>(sizeof(int64_t));
  }

  void Run(const KernelArgs& args) const noexcept override {
    auto* scratch = reinterpret_cast<int64_t*>(args.scratch.data());
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition lines = PartOf(k_ == 0 ? 0 : layout_.line_count(), part, threads_);
      for (int64_t line = lines.begin; line < lines.end; ++line) {
        RunLine(args, line, scratch + part * layout_.length);
      }
    }
  }

 private:
  void RunLine(const KernelArgs& args, int64_t line, int64_t* indices) const {
    const T* x = args.In<T>(0) + layout_.line_begin(line);
    std::iota(indices, indices + layout_.length, int64_t{0});
    const auto before = [&](int64_t a, int64_t b) {
      const T left = x[a * layout_.inner];
      const T right = x[b * layout_.inner];
      const bool left_is_nan = left != left;
      const bool right_is_nan = right != right;
      if (left_is_nan != right_is_nan) return left_is_nan == largest_;
      if (left_is_nan || left == right) return a < b;
      return largest_ ? left > right : left < right;
    };
    std::partial_sort(indices, indices + k_, indices + layout_.length, before);
    const int64_t begin = line / layout_.inner * k_ * layout_.inner + line % layout_.inner;
    const bool wants_indices = args.outputs.size() > 1 && args.outputs[1].data != nullptr;
    for (int64_t i = 0; i < k_; ++i) {
      const int64_t to = begin + i * layout_.inner;
      if (args.outputs[0].data != nullptr) args.Out<T>()[to] = x[indices[i] * layout_.inner];
      if (wants_indices) args.Out<int64_t>(1)[to] = indices[i];
    }
  }

  AxisLayout layout_;
  int64_t k_;
  bool largest_;
  int threads_;
};

template <class T>
class HardmaxKernel final : public Kernel {
 public:
  HardmaxKernel(const AxisLayout& layout, int threads)
      : layout_(layout), threads_(ThreadsFor(layout.line_count() * layout.length, threads)) {}
  std::string implementation() const override { return "scan"; }

  void Run(const KernelArgs& args) const noexcept override {
    ForEachLine(layout_, threads_, [&](int64_t line) {
      const T* x = args.In<T>(0) + layout_.line_begin(line);
      T* y = args.Out<T>() + layout_.line_begin(line);
      int64_t best = 0;
      for (int64_t i = 0; i < layout_.length; ++i) {
        if (x[i * layout_.inner] > x[best * layout_.inner]) best = i;
        y[i * layout_.inner] = T(0);
      }
      y[best * layout_.inner] = T(1);
    });
  }

 private:
  AxisLayout layout_;
  int threads_;
};

}  // namespace

Result<Types> InferCumSum(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CumSumLayout(signature));
  return Types{signature.input(0)};
}

Result<Cost> CumSumCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const AxisLayout layout, CumSumLayout(signature));
  if (!IsFloating(signature.input(0).dtype)) return Cost{};
  const int64_t unadded = signature.Int("exclusive", 0) != 0 ? 2 : 1;
  return PerElementCost({.reduction = std::max<int64_t>(layout.length - unadded, 0)},
                        layout.line_count());
}

Result<std::unique_ptr<Kernel>> MakeCumSumKernel(const NodeSignature& signature,
                                                 const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const AxisLayout layout, CumSumLayout(signature));
  return MakeForNumber<CumSumKernel>(signature, layout, signature, options.threads);
}

Result<Types> InferTopK(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 2));
  TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0));
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const size_t axis,
                            NormalizeAxis(signature, signature.Int("axis", -1), shape.rank()));
  std::vector<int64_t> dims = shape.dims();
  TINYPROF_ASSIGN_OR_RETURN(dims[axis], CountOfTopK(signature, shape[axis]));
  Types types{{signature.input(0).dtype, Shape(dims)}};
  if (output_count == 2) types.push_back({DType::kInt64, Shape(std::move(dims))});
  return types;
}

Result<Cost> TopKCost(const NodeSignature& signature) {
  return PerElementCost({.compare = 1}, signature.input(0).shape.element_count());
}

Result<std::unique_ptr<Kernel>> MakeTopKKernel(const NodeSignature& signature,
                                               const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const AxisLayout layout, TopKLayout(signature));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t k, CountOfTopK(signature, layout.length));
  return MakeForNumber<TopKKernel>(signature, layout, k, signature.Int("largest", 1) != 0,
                                   options.threads);
}

Result<Types> InferHardmax(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(TopKLayout(signature));
  return Types{signature.input(0)};
}

Result<Cost> HardmaxCost(const NodeSignature& signature) {
  return PerElementCost({.compare = 1}, signature.input(0).shape.element_count());
}

Result<std::unique_ptr<Kernel>> MakeHardmaxKernel(const NodeSignature& signature,
                                                  const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const AxisLayout layout, TopKLayout(signature));
  return MakeForNumber<HardmaxKernel>(signature, layout, options.threads);
}

}  // namespace tinyprof
