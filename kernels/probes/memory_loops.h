// Loops that move a known number of bytes with a known number of instructions.
//
// Byte counts are STREAM's: what the program asks for (load 1 array, copy 2, triad 3). The line
// that a cache fetches before a normal store (write-allocate) is not counted; non-temporal stores
// have none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/probes/known_loops.h"

namespace tinyprof {

enum class MemoryOp { kLoad, kCopy, kTriad, kCopyNonTemporal, kTriadNonTemporal };
// "load", "copy", "triad", "copy_nt", "triad_nt".
std::string_view Name(MemoryOp op);
// Arrays that `op` walks: 1, 2 or 3.
int ArrayCount(MemoryOp op);
bool IsNonTemporal(MemoryOp op);

struct MemoryLoop {
  VectorIsa isa = VectorIsa::kScalar;
  MemoryOp op = MemoryOp::kLoad;
  int64_t bytes_per_instruction = 0;  // of one load or store
  // Instructions for each block of kMemoryBlockBytes of each array.
  int64_t loads_per_block = 0;
  int64_t stores_per_block = 0;
  int64_t instructions_per_block = 0;
  // load reads `a`; copy writes target = a; triad writes target = a + 3 * b in float32. Arrays are
  // 64-byte aligned and `bytes` long, a multiple of kMemoryBlockBytes; 0 does nothing.
  void (*run)(std::byte* target, const std::byte* a, const std::byte* b, int64_t bytes) = nullptr;
};

inline constexpr int64_t kMemoryBlockBytes = 512;

// The loops this CPU can run, narrowest registers first.
std::span<const MemoryLoop> HostMemoryLoops();

// The loop if this CPU can run it, or null.
const MemoryLoop* FindMemoryLoop(VectorIsa isa, MemoryOp op);

}  // namespace tinyprof
