// The kernel of every operator whose first output has the bytes of its first input: Reshape,
// Flatten, Squeeze, Identity, ...
#pragma once

#include "kernels/ops/kernel.h"

namespace tinyprof {

Result<std::unique_ptr<Kernel>> MakeCopyKernel(const NodeSignature& signature,
                                               const KernelOptions& options);

}  // namespace tinyprof
