// Operators that choose, convert or copy elements, for any element type. One implementation does
// for all backends: they wait for memory, not for arithmetic.
#pragma once

#include "kernels/ops/kernel.h"

namespace tinyprof {

// Where: the second operand where the first is true, else the third.
Result<std::unique_ptr<Kernel>> MakeWhereKernel(const NodeSignature& signature,
                                                const KernelOptions& options);
// Cast: to integers by truncation, values outside of the type's range become its nearest end and
// NaN becomes 0; to bool by comparing with 0.
Result<std::unique_ptr<Kernel>> MakeCastKernel(const NodeSignature& signature,
                                               const KernelOptions& options);
// Dropout: a copy, and a mask of true when it is asked for.
Result<std::unique_ptr<Kernel>> MakeDropoutKernel(const NodeSignature& signature,
                                                  const KernelOptions& options);

}  // namespace tinyprof
