// Kernels of InstanceNormalization and LRN for each ISA.
#pragma once

#include "kernels/ops/kernel.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

Result<std::unique_ptr<Kernel>> MakeInstanceNorm(const NodeSignature& signature,
                                                 const KernelOptions& options);
Result<std::unique_ptr<Kernel>> MakeLrn(const NodeSignature& signature,
                                        const KernelOptions& options);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
