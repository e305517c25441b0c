// The table of operators on quantized numbers.
#include <array>

#include "kernels/ops/families.h"
#include "kernels/ops/quantize/linear.h"
#include "kernels/ops/quantize/products.h"

namespace tinyprof {
namespace {

constexpr std::array kOperators = {
    Operator{"QuantizeLinear", 2, 3, &InferQuantize, &QuantizeCost, &MakeQuantizeKernel,
             &MakeQuantizeKernel},
    Operator{"DequantizeLinear", 2, 3, &InferDequantize, &QuantizeCost, &MakeDequantizeKernel,
             &MakeDequantizeKernel},
    Operator{"DynamicQuantizeLinear", 1, 1, &InferDynamicQuantize, &DynamicQuantizeCost,
             &MakeDynamicQuantizeKernel, &MakeDynamicQuantizeKernel},
    Operator{"MatMulInteger", 2, 4, &InferMatmulInteger, &MatmulIntegerCost,
             &MakeMatmulIntegerKernel, &MakeMatmulIntegerKernel},
    Operator{"ConvInteger", 2, 4, &InferConvInteger, &ConvIntegerCost, &MakeConvIntegerKernel,
             &MakeConvIntegerKernel},
    Operator{"QLinearMatMul", 8, 8, &InferQLinearMatmul, &QLinearMatmulCost,
             &MakeQLinearMatmulKernel, &MakeQLinearMatmulKernel},
    Operator{"QLinearConv", 8, 9, &InferQLinearConv, &QLinearConvCost, &MakeQLinearConvKernel,
             &MakeQLinearConvKernel},
};

}  // namespace

std::span<const Operator> QuantizeOperators() { return kOperators; }

}  // namespace tinyprof
