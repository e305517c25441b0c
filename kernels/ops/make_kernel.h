// Makes the kernel of a node, whatever its element types.
//
// Kernels are written for float32, some also for float64, int32 or int64. Where a node has other
// types, its operands are converted on the way in and out: float16 and bfloat16 to float32, int8
// and uint8 to int32. Weights are converted once.
#pragma once

#include "kernels/ops/kernel.h"
#include "kernels/runtime/isa.h"

namespace tinyprof {

// The naive kernel; of a fused node those of its parts, one after the other. UNIMPLEMENTED /
// "UNKNOWN_OPERATOR" or "NO_KERNEL".
Result<std::unique_ptr<Kernel>> MakeNaiveKernel(const NodeSignature& signature,
                                                const KernelOptions& options);
// The Eigen kernel for `isa`; of a fused node that of its first part, or those of its parts.
// UNIMPLEMENTED / "NO_KERNEL".
Result<std::unique_ptr<Kernel>> MakeEigenKernel(const NodeSignature& signature,
                                                const KernelOptions& options, Isa isa);

}  // namespace tinyprof
