// One implementation for all backends of an operator that does little arithmetic, in the types that
// numbers have: float32, float64, int32, int64.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "kernels/ops/kernel.h"

namespace tinyprof {

// KernelTemplate<E>(args...) with E the type of input `index`; UNIMPLEMENTED / "NO_KERNEL" for
// another (make_kernel.h converts those).
template <template <class> class KernelTemplate, class... Args>
Result<std::unique_ptr<Kernel>> MakeForNumberInput(const NodeSignature& signature, size_t index,
                                                   Args&&... args) {
  switch (signature.input(index).dtype) {
    case DType::kFloat32:
      return std::make_unique<KernelTemplate<float>>(std::forward<Args>(args)...);
    case DType::kFloat64:
      return std::make_unique<KernelTemplate<double>>(std::forward<Args>(args)...);
    case DType::kInt32:
      return std::make_unique<KernelTemplate<int32_t>>(std::forward<Args>(args)...);
    case DType::kInt64:
      return std::make_unique<KernelTemplate<int64_t>>(std::forward<Args>(args)...);
    default:
      return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                  fmt::format("{} has no kernel for {}", signature.node->op_type,
                              Name(signature.input(index).dtype)));
  }
}

// The same for the type of input 0.
template <template <class> class KernelTemplate, class... Args>
Result<std::unique_ptr<Kernel>> MakeForNumber(const NodeSignature& signature, Args&&... args) {
  return MakeForNumberInput<KernelTemplate>(signature, 0, std::forward<Args>(args)...);
}

}  // namespace tinyprof
