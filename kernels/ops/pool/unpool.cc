#include "kernels/ops/pool/unpool.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/ops/checks.h"
#include "kernels/ops/shape/element.h"
#include "kernels/ops/window.h"

namespace tinyprof {
namespace {

struct UnpoolShapes {
  Shape pooled;  // what the indices point into
  Shape output;
};

Result<UnpoolShapes> ShapesOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 3, 5));
  const Shape& input = signature.input(0).shape;
  const std::vector<int64_t> kernel = signature.Ints("kernel_shape", {});
  if (kernel.size() != input.rank() - 2) {
    return BadAttribute(signature, "kernel_shape does not fit the input");
  }
  TINYPROF_ASSIGN_OR_RETURN(const Window window, ReadWindow(signature, kernel));
  std::vector<int64_t> dims = {input[0], input[1]};
  for (size_t i = 0; i < window.rank; ++i) {
    const WindowAxis& axis = window.axes[i];
    dims.push_back((input[2 + i] - 1) * axis.stride + axis.span() - axis.pad_begin - axis.pad_end);
  }
  Result<Shape> pooled = Shape::Create(std::move(dims));
  if (!pooled) return ShapeMismatch(signature, pooled.error().message);
  UnpoolShapes shapes{.pooled = *pooled, .output = *pooled};
  if (!signature.has_input(2)) return shapes;
  TINYPROF_ASSIGN_OR_RETURN(std::vector<int64_t> wanted, KnownInts(signature, 2, "output shape"));
  Result<Shape> output = Shape::Create(std::move(wanted));
  if (!output || output->rank() != input.rank()) {
    return ShapeMismatch(signature, "the output shape does not fit the input");
  }
  for (size_t d = 0; d < input.rank(); ++d) {
    if ((*output)[d] < shapes.pooled[d]) {
      return ShapeMismatch(signature, fmt::format("an output of shape {} does not hold {}",
                                                  output->ToString(), pooled->ToString()));
    }
  }
  shapes.output = *std::move(output);
  return shapes;
}

template <class E>
class MaxUnpoolKernel final : public Kernel {
 public:
  MaxUnpoolKernel(UnpoolShapes shapes, int64_t count)
      : shapes_(std::move(shapes)), pooled_count_(shapes_.pooled.element_count()), count_(count) {}
  std::string implementation() const override { return "scatter"; }
  void Run(const KernelArgs& args) const noexcept override {
    std::fill_n(args.Out<E>(), shapes_.output.element_count(), E{0});
    for (int64_t i = 0; i < count_ && pooled_count_ > 0; ++i) {
      const int64_t index = std::clamp<int64_t>(args.In<int64_t>(1)[i], 0, pooled_count_ - 1);
      int64_t offset = 0;
      for (size_t d = 0; d < shapes_.pooled.rank(); ++d) {
        const int64_t place = index / shapes_.pooled.stride(d) % shapes_.pooled[d];
        offset += place * shapes_.output.stride(d);
      }
      args.Out<E>()[offset] = args.In<E>(0)[i];
    }
  }

 private:
  UnpoolShapes shapes_;
  int64_t pooled_count_;
  int64_t count_;
};

}  // namespace

Result<std::vector<TensorType>> InferMaxUnpool(const NodeSignature& signature,
                                               size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 1, "indices", signature.input(0).shape));
  if (signature.input(1).dtype != DType::kInt64) {
    return ShapeMismatch(signature, "the indices are no int64");
  }
  TINYPROF_ASSIGN_OR_RETURN(UnpoolShapes shapes, ShapesOf(signature));
  return std::vector<TensorType>{{signature.input(0).dtype, std::move(shapes.output)}};
}

Result<Cost> MaxUnpoolCost(const NodeSignature& /*signature*/) { return Cost{}; }

Result<std::unique_ptr<Kernel>> MakeMaxUnpoolKernel(const NodeSignature& signature,
                                                    const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(UnpoolShapes shapes, ShapesOf(signature));
  return MakeByElementSize<MaxUnpoolKernel>(signature.input(0).dtype, std::move(shapes),
                                            signature.input(0).shape.element_count());
}

}  // namespace tinyprof
