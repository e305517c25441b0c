// Kernels of the operators that move elements, for any element type by its size. One implementation
// does for all backends: there is no arithmetic to vectorize.
#pragma once

#include "kernels/ops/kernel.h"

namespace tinyprof {

using KernelResult = Result<std::unique_ptr<Kernel>>;

// Each output element is an input element at a fixed stride for each output dimension.
KernelResult MakeTransposeKernel(const NodeSignature& signature, const KernelOptions& options);
KernelResult MakeExpandKernel(const NodeSignature& signature, const KernelOptions& options);
KernelResult MakeSliceKernel(const NodeSignature& signature, const KernelOptions& options);
KernelResult MakeDepthToSpaceKernel(const NodeSignature& signature, const KernelOptions& options);
KernelResult MakeSpaceToDepthKernel(const NodeSignature& signature, const KernelOptions& options);

// Blocks of bytes that alternate in one of the tensors.
KernelResult MakeConcatKernel(const NodeSignature& signature, const KernelOptions& options);
KernelResult MakeSplitKernel(const NodeSignature& signature, const KernelOptions& options);

// Each output index along a dimension has its own source index, or is filled with a constant.
KernelResult MakeTileKernel(const NodeSignature& signature, const KernelOptions& options);
KernelResult MakePadKernel(const NodeSignature& signature, const KernelOptions& options);

// The output depends on types alone.
KernelResult MakeShapeKernel(const NodeSignature& signature, const KernelOptions& options);
KernelResult MakeConstantOfShapeKernel(const NodeSignature& signature,
                                       const KernelOptions& options);

}  // namespace tinyprof
