// Matrix products and convolutions of 8-bit integers: MatMulInteger and ConvInteger give int32,
// QLinearMatMul and QLinearConv quantize that again.
//
// Zero points are taken off first. A multiply-accumulate is two integer operations; there are no
// FLOPs.
#pragma once

#include <vector>

#include "kernels/ops/op.h"

namespace tinyprof {

// Where an operator has its operands.
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
  size_t bias = 0;  // 0: none
};

// The signature of the product of x and w in float32, for the shape rules of MatMul and Conv.
NodeSignature FloatProductOf(const NodeSignature& signature, const ProductRoles& roles);

Result<std::vector<TensorType>> InferMatmulInteger(const NodeSignature& signature,
                                                   size_t output_count);
Result<std::vector<TensorType>> InferQLinearMatmul(const NodeSignature& signature,
                                                   size_t output_count);
Result<std::vector<TensorType>> InferConvInteger(const NodeSignature& signature,
                                                 size_t output_count);
Result<std::vector<TensorType>> InferQLinearConv(const NodeSignature& signature,
                                                 size_t output_count);
Result<Cost> MatmulIntegerCost(const NodeSignature& signature);
Result<Cost> QLinearMatmulCost(const NodeSignature& signature);
Result<Cost> ConvIntegerCost(const NodeSignature& signature);
Result<Cost> QLinearConvCost(const NodeSignature& signature);

Result<std::unique_ptr<Kernel>> MakeMatmulIntegerKernel(const NodeSignature& signature,
                                                        const KernelOptions& options);
Result<std::unique_ptr<Kernel>> MakeQLinearMatmulKernel(const NodeSignature& signature,
                                                        const KernelOptions& options);
Result<std::unique_ptr<Kernel>> MakeConvIntegerKernel(const NodeSignature& signature,
                                                      const KernelOptions& options);
Result<std::unique_ptr<Kernel>> MakeQLinearConvKernel(const NodeSignature& signature,
                                                      const KernelOptions& options);

}  // namespace tinyprof
