// Runs a fused node as the nodes that it stands for, one after the other.
#pragma once

#include <functional>
#include <memory>

#include "kernels/ops/kernel.h"

namespace tinyprof {

using PartFactory = std::function<Result<std::unique_ptr<Kernel>>(const NodeSignature& part)>;

// The kernel of a fused node, with those that `make` makes of its parts; what lies between them is
// scratch. Fails as `make` does.
Result<std::unique_ptr<Kernel>> MakePartsKernel(const NodeSignature& fused,
                                                const PartFactory& make);

}  // namespace tinyprof
