// Elements as what they are to a copy: 1, 2, 4 or 8 bytes.
#pragma once

#include <cstdint>

#include "kernels/ops/kernel.h"
#include "kernels/tensor/dtype.h"

namespace tinyprof {

// KernelTemplate<E>(args...) with E an unsigned integer as wide as an element of `dtype`.
template <template <class> class KernelTemplate, class... Args>
Result<std::unique_ptr<Kernel>> MakeByElementSize(DType dtype, Args&&... args) {
  switch (ByteSize(dtype)) {
    case 1:
      return std::make_unique<KernelTemplate<uint8_t>>(std::forward<Args>(args)...);
    case 2:
      return std::make_unique<KernelTemplate<uint16_t>>(std::forward<Args>(args)...);
    case 4:
      return std::make_unique<KernelTemplate<uint32_t>>(std::forward<Args>(args)...);
    default:
      return std::make_unique<KernelTemplate<uint64_t>>(std::forward<Args>(args)...);
  }
}

}  // namespace tinyprof
