// Operators that go along one axis and keep its elements: CumSum, TopK, Hardmax. One implementation
// for all backends.
#pragma once

#include <vector>

#include "kernels/ops/op.h"

namespace tinyprof {

// Input 1 is the axis, known before the run; attributes exclusive and reverse. Adds n - 1 times for
// n elements, n - 2 times when exclusive.
Result<std::vector<TensorType>> InferCumSum(const NodeSignature& signature, size_t output_count);
Result<Cost> CumSumCost(const NodeSignature& signature);
Result<std::unique_ptr<Kernel>> MakeCumSumKernel(const NodeSignature& signature,
                                                 const KernelOptions& options);

// The k largest (or smallest) elements and their indices; k is input 1, known before the run, or
// (opset 9 and before) an attribute. Of equal elements the one with the lower index comes first.
Result<std::vector<TensorType>> InferTopK(const NodeSignature& signature, size_t output_count);
Result<Cost> TopKCost(const NodeSignature& signature);
Result<std::unique_ptr<Kernel>> MakeTopKKernel(const NodeSignature& signature,
                                               const KernelOptions& options);

// 1 for the first largest element, 0 for the others.
Result<std::vector<TensorType>> InferHardmax(const NodeSignature& signature, size_t output_count);
Result<Cost> HardmaxCost(const NodeSignature& signature);
Result<std::unique_ptr<Kernel>> MakeHardmaxKernel(const NodeSignature& signature,
                                                  const KernelOptions& options);

}  // namespace tinyprof
