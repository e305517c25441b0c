// Kernels of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear for each ISA.
#pragma once

#include "kernels/ops/kernel.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

Result<std::unique_ptr<Kernel>> MakeQuantize(const NodeSignature& signature,
                                             const KernelOptions& options);
Result<std::unique_ptr<Kernel>> MakeDequantize(const NodeSignature& signature,
                                               const KernelOptions& options);
Result<std::unique_ptr<Kernel>> MakeDynamicQuantize(const NodeSignature& signature,
                                                    const KernelOptions& options);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
