// The one implementation of Gather, for all backends: it waits for memory, not for arithmetic.
#pragma once

#include "kernels/ops/kernel.h"

namespace tinyprof {

Result<std::unique_ptr<Kernel>> MakeGatherKernel(const NodeSignature& signature,
                                                 const KernelOptions& options);

}  // namespace tinyprof
