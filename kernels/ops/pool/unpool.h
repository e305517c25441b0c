// MaxUnpool: puts each element where the indices of a MaxPool say that it was; zeros elsewhere.
#pragma once

#include <vector>

#include "kernels/ops/op.h"

namespace tinyprof {

// Input 1 holds the indices into the tensor that was pooled, whose shape follows from the window.
// Input 2, known before the run, asks for an output of another shape, in which that one begins at
// 0.
Result<std::vector<TensorType>> InferMaxUnpool(const NodeSignature& signature, size_t output_count);
Result<Cost> MaxUnpoolCost(const NodeSignature& signature);
Result<std::unique_ptr<Kernel>> MakeMaxUnpoolKernel(const NodeSignature& signature,
                                                    const KernelOptions& options);

}  // namespace tinyprof
