// ScatterElements and ScatterND. Updates are applied in order, by one thread: two may meet.
#include <fmt/format.h>

#include <cstring>
#include <map>

#include "kernels/ops/cost_math.h"
#include "kernels/ops/dtypes.h"
#include "kernels/ops/elementwise/binary_functors.h"
#include "kernels/ops/index/index.h"
#include "kernels/ops/index/layout.h"
#include "kernels/ops/number_kernel.h"
#include "kernels/ops/shape/element.h"

namespace tinyprof {
namespace {

enum class Reduction { kNone, kAdd, kMul, kMax, kMin };

Result<Reduction> ReductionOf(const NodeSignature& signature) {
  static const std::map<std::string, Reduction, std::less<>> kByName = {{"none", Reduction::kNone},
                                                                        {"add", Reduction::kAdd},
                                                                        {"mul", Reduction::kMul},
                                                                        {"max", Reduction::kMax},
                                                                        {"min", Reduction::kMin}};
  const std::string name = signature.String("reduction", "none");
  const auto found = kByName.find(name);
  if (found != kByName.end()) return found->second;
  return BadAttribute(signature,
                      fmt::format("reduction \"{}\" is none of none, add, mul, max, min", name));
}

template <class E>
E Joined(Reduction reduction, E old, E update) {
  switch (reduction) {
    case Reduction::kNone:
      return update;
    case Reduction::kAdd:
      return Add::Apply(old, update);
    case Reduction::kMul:
      return Mul::Apply(old, update);
    case Reduction::kMax:
      return Max(old, update);
    case Reduction::kMin:
      return Min(old, update);
  }
  return update;
}

void CopyData(const KernelArgs& args) {
  const auto bytes = static_cast<size_t>(args.outputs[0].type.byte_size());
  if (bytes > 0) std::memcpy(args.outputs[0].data, args.inputs[0].data, bytes);
}

template <class E>
class ScatterElementsKernel final : public Kernel {
 public:
  ScatterElementsKernel(const ElementsLayout& layout, Reduction reduction)
      : layout_(layout), reduction_(reduction) {}
  std::string implementation() const override { return "element copy"; }
  void Run(const KernelArgs& args) const noexcept override {
    CopyData(args);
    layout_.ForEach(args.inputs[1], {0, layout_.plan.element_count},
                    [&](int64_t at, int64_t offset) {
                      E& element = args.Out<E>()[offset];
                      element = Joined(reduction_, element, args.In<E>(2)[at]);
                    });
  }

 private:
  ElementsLayout layout_;
  Reduction reduction_;
};

template <class E>
class ScatterNdKernel final : public Kernel {
 public:
  ScatterNdKernel(SlicesLayout layout, Reduction reduction)
      : layout_(std::move(layout)),
        length_(layout_.slice_bytes / static_cast<int64_t>(sizeof(E))),
        reduction_(reduction) {}
  std::string implementation() const override { return "row copy"; }
  void Run(const KernelArgs& args) const noexcept override {
    CopyData(args);
    for (int64_t tuple = 0; tuple < layout_.tuple_count; ++tuple) {
      auto* slice =
          reinterpret_cast<E*>(args.Out<std::byte>() + layout_.OffsetOf(args.inputs[1], tuple));
      const E* updates = args.In<E>(2) + tuple * length_;
      for (int64_t i = 0; i < length_; ++i) slice[i] = Joined(reduction_, slice[i], updates[i]);
    }
  }

 private:
  SlicesLayout layout_;
  int64_t length_;
  Reduction reduction_;
};

// By size where elements are only moved, by type where they are joined.
template <template <class> class KernelTemplate, class Layout>
KernelResult MakeScatter(const NodeSignature& signature, const Layout& layout) {
  TINYPROF_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(signature));
  if (reduction == Reduction::kNone) {
    return MakeByElementSize<KernelTemplate>(signature.input(0).dtype, layout, reduction);
  }
  return MakeForNumber<KernelTemplate>(signature, layout, reduction);
}

Status CheckUpdates(const NodeSignature& signature, const Shape& wanted) {
  if (signature.input(2).dtype != signature.input(0).dtype) {
    return ShapeMismatch(signature, "updates and data have different types");
  }
  TINYPROF_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(signature));
  if (reduction != Reduction::kNone) TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0));
  return CheckInputShape(signature, 2, "updates", wanted);
}

}  // namespace

Result<Types> InferScatterElements(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const ElementsLayout layout, ElementsLayoutOf(signature));
  TINYPROF_RETURN_IF_ERROR(CheckKnownIndices(signature, 1, {layout.axis_length}));
  TINYPROF_RETURN_IF_ERROR(CheckUpdates(signature, signature.input(1).shape));
  return Types{signature.input(0)};
}

KernelResult MakeScatterElementsKernel(const NodeSignature& signature,
                                       const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(const ElementsLayout layout, ElementsLayoutOf(signature));
  return MakeScatter<ScatterElementsKernel>(signature, layout);
}

Result<Types> InferScatterNd(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const SlicesLayout layout, SlicesLayoutOf(signature));
  TINYPROF_RETURN_IF_ERROR(CheckKnownIndices(signature, 1, layout.lengths));
  std::vector<int64_t> dims = signature.input(1).shape.dims();
  dims.pop_back();
  dims.insert(dims.end(), layout.slice_dims.begin(), layout.slice_dims.end());
  TINYPROF_RETURN_IF_ERROR(CheckUpdates(signature, Shape(std::move(dims))));
  return Types{signature.input(0)};
}

KernelResult MakeScatterNdKernel(const NodeSignature& signature, const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(const SlicesLayout layout, SlicesLayoutOf(signature));
  return MakeScatter<ScatterNdKernel>(signature, layout);
}

Result<Cost> ScatterCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(signature));
  if (reduction == Reduction::kNone || !IsFloating(signature.input(0).dtype)) return Cost{};
  const bool compares = reduction == Reduction::kMax || reduction == Reduction::kMin;
  return PerElementCost(compares ? FlopClasses{.minmax = 1} : FlopClasses{.add_mul_div = 1},
                        signature.input(2).shape.element_count());
}

}  // namespace tinyprof
