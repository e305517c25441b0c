// The table of element-wise operators.
#include <array>

#include "kernels/ops/elementwise/cost.h"
#include "kernels/ops/elementwise/infer.h"
#include "kernels/ops/elementwise/reference.h"
#include "kernels/ops/elementwise/select.h"
#include "kernels/ops/families.h"
#include "kernels/ops/reference_kernel.h"
#include "kernels/ops/shape/copy.h"

namespace tinyprof {
namespace {

// What ONNX allows for Max, Min and Sum.
constexpr size_t kAnyNumberOfInputs = 2147483647;

template <class Op>
constexpr Operator Unary() {
  return {Op::kType,
          1,
          1,
          Op::kIntegers ? &InferUnaryNumber : &InferUnaryFloat,
          &UnaryCost<Op>,
          &MakeReferenceKernel<float, &UnaryReference<float, Op>>,
          &MakeReferenceKernel<double, &UnaryReference<double, Op>>};
}

template <class Op>
constexpr Operator Fold(size_t min_inputs, size_t max_inputs) {
  return {Op::kType,
          min_inputs,
          max_inputs,
          &InferFold,
          &BinaryCost<Op>,
          &MakeReferenceKernel<float, &FoldReference<float, Op>>,
          &MakeReferenceKernel<double, &FoldReference<double, Op>>};
}

template <class Op>
constexpr Operator FloatBinary(Result<Types> (*infer)(const NodeSignature&, size_t)) {
  return {Op::kType,
          2,
          2,
          infer,
          &BinaryCost<Op>,
          &MakeReferenceKernel<float, &FloatBinaryReference<float, Op>>,
          &MakeReferenceKernel<double, &FloatBinaryReference<double, Op>>};
}

template <class Op>
constexpr Operator Compare() {
  return {Op::kType,
          2,
          2,
          &InferCompare,
          &CompareCost,
          &MakeReferenceKernel<float, &CompareReference<float, Op>>,
          &MakeReferenceKernel<double, &CompareReference<double, Op>>};
}

Result<Cost> NoFlops(const NodeSignature& /*signature*/) { return Cost{}; }

template <class Op>
constexpr Operator Logical() {
  return {Op::kType,
          2,
          2,
          &InferLogical,
          &NoFlops,
          &MakeReferenceKernel<float, &LogicalReference<Op>>,
          &MakeReferenceKernel<double, &LogicalReference<Op>>};
}

constexpr std::array kOperators = {
    Unary<Relu>(),
    Unary<LeakyRelu>(),
    Unary<Elu>(),
    Unary<Sigmoid>(),
    Unary<HardSigmoid>(),
    Unary<HardSwish>(),
    Unary<Tanh>(),
    Unary<Softplus>(),
    Unary<Exp>(),
    Unary<Log>(),
    Unary<Sqrt>(),
    Unary<Reciprocal>(),
    Unary<Erf>(),
    Unary<Celu>(),
    Unary<Selu>(),
    Unary<ThresholdedRelu>(),
    Unary<Shrink>(),
    Unary<Softsign>(),
    Unary<Sin>(),
    Unary<Cos>(),
    Unary<Tan>(),
    Unary<Asin>(),
    Unary<Acos>(),
    Unary<Atan>(),
    Unary<Sinh>(),
    Unary<Cosh>(),
    Unary<Asinh>(),
    Unary<Acosh>(),
    Unary<Atanh>(),
    Unary<Neg>(),
    Unary<Abs>(),
    Unary<Floor>(),
    Unary<Ceil>(),
    Unary<Round>(),
    Unary<Sign>(),
    Operator{"Gelu", 1, 1, &InferGelu, &GeluCost,
             &MakeReferenceKernel<float, &GeluReference<float>>,
             &MakeReferenceKernel<double, &GeluReference<double>>},
    Operator{"Swish", 1, 1, &InferSwish, &UnaryCost<Swish>,
             &MakeReferenceKernel<float, &UnaryReference<float, Swish>>,
             &MakeReferenceKernel<double, &UnaryReference<double, Swish>>},
    Operator{"Clip", 1, 3, &InferClip, &ClipCost,
             &MakeReferenceKernel<float, &ClipReference<float>>,
             &MakeReferenceKernel<double, &ClipReference<double>>},
    Fold<Add>(2, 2),
    Fold<Sub>(2, 2),
    Fold<Mul>(2, 2),
    Fold<Div>(2, 2),
    Fold<Maximum>(1, kAnyNumberOfInputs),
    Fold<Minimum>(1, kAnyNumberOfInputs),
    Fold<Sum>(1, kAnyNumberOfInputs),
    Fold<Pow>(2, 2),
    Operator{"Mean", 1, kAnyNumberOfInputs, &InferMean, &MeanCost,
             &MakeReferenceKernel<float, &MeanReference<float>>,
             &MakeReferenceKernel<double, &MeanReference<double>>},
    Operator{"Mod", 2, 2, &InferMod, &BinaryCost<Mod>,
             &MakeReferenceKernel<float, &ModReference<float>>,
             &MakeReferenceKernel<double, &ModReference<double>>},
    Operator{"BitShift", 2, 2, &InferBitShift, &NoFlops,
             &MakeReferenceKernel<float, &BitShiftReference<float>>,
             &MakeReferenceKernel<double, &BitShiftReference<double>>},
    Operator{"IsNaN", 1, 1, &InferIsFloatClass, &CompareCost,
             &MakeReferenceKernel<float, &IsNanReference<float>>,
             &MakeReferenceKernel<double, &IsNanReference<double>>},
    Operator{"IsInf", 1, 1, &InferIsFloatClass, &CompareCost,
             &MakeReferenceKernel<float, &IsInfReference<float>>,
             &MakeReferenceKernel<double, &IsInfReference<double>>},
    FloatBinary<PRelu>(&InferPRelu),
    Compare<Equal>(),
    Compare<Greater>(),
    Compare<Less>(),
    Compare<GreaterOrEqual>(),
    Compare<LessOrEqual>(),
    Logical<And>(),
    Logical<Or>(),
    Logical<Xor>(),
    Operator{"Not", 1, 1, &InferNot, &NoFlops, &MakeReferenceKernel<float, &NotReference>,
             &MakeReferenceKernel<double, &NotReference>},
    Operator{"Where", 3, 3, &InferWhere, &NoFlops, &MakeWhereKernel, &MakeWhereKernel},
    Operator{"Cast", 1, 1, &InferCast, &NoFlops, &MakeCastKernel, &MakeCastKernel},
    Operator{"Identity", 1, 1, &InferIdentity, &NoFlops, &MakeCopyKernel, &MakeCopyKernel},
    Operator{"Dropout", 1, 3, &InferDropout, &NoFlops, &MakeDropoutKernel, &MakeDropoutKernel},
};

}  // namespace

std::span<const Operator> ElementwiseOperators() { return kOperators; }

}  // namespace tinyprof
