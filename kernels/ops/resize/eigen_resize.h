// Kernels of Resize and GridSample for each ISA.
#pragma once

#include "kernels/ops/kernel.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// Nearest moves elements of any type; linear and cubic are for float32.
Result<std::unique_ptr<Kernel>> MakeResize(const NodeSignature& signature,
                                           const KernelOptions& options);
Result<std::unique_ptr<Kernel>> MakeGridSample(const NodeSignature& signature,
                                               const KernelOptions& options);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
