// A kernel that keeps weights in an arrangement of its own, in memory that the session gives it.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/ops/kernel.h"

namespace tinyprof {

class PackingKernel : public Kernel {
 public:
  // Memory for the copy; 0 where the weights are used as they are.
  virtual int64_t packed_bytes() const = 0;
  // Writes the copy to `packed`, packed_bytes() long and 64-byte aligned, which must outlive the
  // kernel. Called once, before the first Run, if packed_bytes() is above 0. RESOURCE_EXHAUSTED /
  // "OUT_OF_MEMORY" when the library below cannot have what it needs for that.
  virtual Status Pack(std::span<std::byte> packed) = 0;
};

// The same of any kernel: 0, and nothing to do, for one that keeps nothing.
int64_t PackedBytesOf(const Kernel& kernel);
Status PackInto(Kernel& kernel, std::span<std::byte> packed);

}  // namespace tinyprof
