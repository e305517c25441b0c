// Conv and ConvTranspose: types, costs and naive kernels.
#include <array>

#include "kernels/ops/checks.h"
#include "kernels/ops/conv/reference.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/families.h"

namespace tinyprof {
namespace {

using ShapeFn = Result<ConvShape> (*)(const NodeSignature& signature);

template <ShapeFn shape_of>
Result<std::vector<TensorType>> Infer(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(ConvShape shape, shape_of(signature));
  return std::vector<TensorType>{{signature.input(0).dtype, std::move(shape.output)}};
}

// Each pair of channels of a group does all taps at all places; what of that is not padding is a
// product over the axes.
template <ShapeFn shape_of>
Result<Cost> ConvCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const ConvShape shape, shape_of(signature));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t pairs,
                            CheckedProduct({shape.batch, shape.out_channels, shape.in_group()}));
  Cost cost;
  TINYPROF_ASSIGN_OR_RETURN(
      cost.flops.mac,
      CheckedProduct({pairs, shape.axes[0].kernel, shape.axes[1].kernel, shape.axes[2].kernel,
                      shape.axes[0].positions, shape.axes[1].positions, shape.axes[2].positions}));
  TINYPROF_ASSIGN_OR_RETURN(
      cost.valid_tap_mac_count,
      CheckedProduct({pairs, shape.axes[0].ValidTapCount(), shape.axes[1].ValidTapCount(),
                      shape.axes[2].ValidTapCount()}));
  if (signature.has_input(2)) cost.flops.bias = shape.output.element_count();
  return cost;
}

constexpr std::array kOperators = {
    Operator{.type = "Conv",
             .min_inputs = 2,
             .max_inputs = 3,
             .infer = Infer<ConvShapeOf>,
             .cost = ConvCost<ConvShapeOf>,
             .reference = MakeReferenceKernel<float, ConvReference<float>>,
             .reference_f64 = MakeReferenceKernel<double, ConvReference<double>>},
    Operator{.type = "ConvTranspose",
             .min_inputs = 2,
             .max_inputs = 3,
             .infer = Infer<ConvTransposeShapeOf>,
             .cost = ConvCost<ConvTransposeShapeOf>,
             .reference = MakeReferenceKernel<float, ConvTransposeReference<float>>,
             .reference_f64 = MakeReferenceKernel<double, ConvTransposeReference<double>>},
};

}  // namespace

std::span<const Operator> ConvOperators() { return kOperators; }

}  // namespace tinyprof
