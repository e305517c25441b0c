#include "kernels/ops/packing_kernel.h"

namespace tinyprof {

int64_t PackedBytesOf(const Kernel& kernel) {
  const auto* packing = dynamic_cast<const PackingKernel*>(&kernel);
  return packing == nullptr ? 0 : packing->packed_bytes();
}

Status PackInto(Kernel& kernel, std::span<std::byte> packed) {
  auto* packing = dynamic_cast<PackingKernel*>(&kernel);
  return packing == nullptr || packed.empty() ? Status() : packing->Pack(packed);
}

}  // namespace tinyprof
