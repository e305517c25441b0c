// Matrix products and convolutions of 8-bit integers: MatMulInteger and ConvInteger give int32,
// QLinearMatMul and QLinearConv quantize that again.
//
// Zero points are taken off first. A multiply-accumulate is two integer operations; there are no
// FLOPs.
#pragma once

#include <vector>

#include "kernels/ops/op.h"

namespace tinyprof {

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
