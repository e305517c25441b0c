// The table of operators that sample images, and the type rule, cost rule and naive kernels of
// Resize.
#include <array>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/families.h"
#include "kernels/ops/number_kernel.h"
#include "kernels/ops/reference_kernel.h"
#include "kernels/ops/resize/grid_sample.h"
#include "kernels/ops/resize/passes.h"
#include "kernels/ops/resize/roi_align.h"
#include "kernels/ops/shape/element.h"

namespace tinyprof {
namespace {

using KernelResult = Result<std::unique_ptr<Kernel>>;

Result<std::vector<TensorType>> InferResize(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(ResizePlan plan, ResizePlanOf(signature));
  return std::vector<TensorType>{{signature.input(0).dtype, std::move(plan.output)}};
}

Result<Cost> ResizeCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const ResizePlan plan, ResizePlanOf(signature));
  Cost cost;
  if (plan.is_nearest) return cost;
  for (const ResizePass& pass : plan.passes) {
    TINYPROF_ASSIGN_OR_RETURN(
        const Cost one, PerElementCost({.add_mul_div = 2 * pass.taps - 1}, pass.output_count()));
    cost += one;
  }
  return cost;
}

template <class T>
class ResizeKernel final : public Kernel {
 public:
  explicit ResizeKernel(ResizePlan plan) : plan_(std::move(plan)) {}
  std::string implementation() const override { return "naive"; }
  int64_t scratch_bytes() const override {
    return 2 * plan_.between_count() * static_cast<int64_t>(sizeof(T));
  }
  void Run(const KernelArgs& args) const noexcept override {
    RunPasses(plan_, args.In<T>(0), args.Out<T>(), reinterpret_cast<T*>(args.scratch.data()),
              [](const ResizePass& pass, const T* from, T* to) {
                RunRows(pass, from, to, 0, pass.row_count());
              });
    FillOutside(plan_, args.Out<T>());
  }

 private:
  ResizePlan plan_;
};

template <class E>
class NearestKernel final : public Kernel {
 public:
  explicit NearestKernel(ResizePlan plan) : plan_(std::move(plan)) {}
  std::string implementation() const override { return "row copy"; }
  int64_t scratch_bytes() const override {
    return 2 * plan_.between_count() * static_cast<int64_t>(sizeof(E));
  }
  void Run(const KernelArgs& args) const noexcept override {
    RunPasses(plan_, args.In<E>(0), args.Out<E>(), reinterpret_cast<E*>(args.scratch.data()),
              [](const ResizePass& pass, const E* from, E* to) {
                CopyRows(pass, from, to, 0, pass.row_count());
              });
  }

 private:
  ResizePlan plan_;
};

KernelResult MakeResize(const NodeSignature& signature, const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(ResizePlan plan, ResizePlanOf(signature));
  if (plan.is_nearest && plan.outside.empty()) {
    return MakeByElementSize<NearestKernel>(signature.input(0).dtype, std::move(plan));
  }
  return MakeForNumber<ResizeKernel>(signature, std::move(plan));
}

constexpr std::array kOperators = {
    Operator{"Resize", 1, 4, &InferResize, &ResizeCost, &MakeResize, &MakeResize},
    Operator{"GridSample", 2, 2, &InferGridSample, &GridSampleCost,
             &MakeReferenceKernel<float, &GridSampleReference<float>>,
             &MakeReferenceKernel<double, &GridSampleReference<double>>},
    Operator{"RoiAlign", 3, 3, &InferRoiAlign, &RoiAlignCost,
             &MakeReferenceKernel<float, &RoiAlignReference<float>>,
             &MakeReferenceKernel<double, &RoiAlignReference<double>>},
};

}  // namespace

std::span<const Operator> ResizeOperators() { return kOperators; }

}  // namespace tinyprof
