// Where the products of 8-bit integers have their operands, and the sizes behind them.
#pragma once

#include <cstdint>

#include "kernels/graph/graph.h"
#include "kernels/ops/kernel.h"

namespace tinyprof {

// The inputs of an operator by index.
struct ProductRoles {
  size_t x = 0;
  size_t x_zero = 2;
  size_t w = 1;
  size_t w_zero = 3;
  // Of the operators that quantize their output.
  bool is_linear = false;
  size_t x_scale = 0;
  size_t w_scale = 0;
  size_t y_scale = 0;
  size_t y_zero = 0;
  size_t bias = 0;  // 0: none; QLinearMatMul has no such input
};

// Of MatMulInteger and ConvInteger.
inline constexpr ProductRoles kIntegerRoles{};
// Of QLinearMatMul and QLinearConv.
inline constexpr ProductRoles kLinearRoles{.x_zero = 2,
                                           .w = 3,
                                           .w_zero = 5,
                                           .is_linear = true,
                                           .x_scale = 1,
                                           .w_scale = 4,
                                           .y_scale = 6,
                                           .y_zero = 7,
                                           .bias = 8};

// The signature of the product of x and w in float32, for the shape rules of MatMul and Conv.
NodeSignature FloatProductOf(const NodeSignature& signature, const ProductRoles& roles);

// What a product reads and writes, flattened.
struct ProductDims {
  Shape output;
  int64_t mac_count = 0;
  // Lists of zero points and scales: x has one for each of `x_rows` runs of `x_run` elements, w one
  // for each `w_channels`, which change every `w_run` elements; y the channel of w, every `y_run`.
  int64_t x_rows = 1;
  int64_t x_run = 1;
  int64_t w_channels = 1;
  int64_t w_run = 1;
  int64_t y_run = 1;
};

// Of the float product.
Result<ProductDims> MatmulDims(const NodeSignature& product);
Result<ProductDims> ConvDims(const NodeSignature& product);

// Element `index` of a list, or its only one: of zero points (int8 or uint8), of scales (float32).
inline int32_t ZeroAt(const ConstTensorView& zeros, int64_t index) {
  const int64_t at = zeros.element_count() == 1 ? 0 : index;
  return zeros.type.dtype == DType::kInt8 ? zeros.As<int8_t>()[at] : zeros.As<uint8_t>()[at];
}
inline float ScaleAt(const ConstTensorView& scales, int64_t index) {
  return scales.As<float>()[scales.element_count() == 1 ? 0 : index];
}

// What a sum of products of `channel` is multiplied by, worked out as ONNX says.
inline float FactorAt(const KernelArgs& args, int64_t channel) {
  return ScaleAt(args.inputs[kLinearRoles.x_scale], 0) *
         ScaleAt(args.inputs[kLinearRoles.w_scale], channel) /
         ScaleAt(args.inputs[kLinearRoles.y_scale], 0);
}

}  // namespace tinyprof
