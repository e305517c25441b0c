// Instruction sets that kernels are compiled for, and what this machine has.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

// In rising order. Off x86-64 only kBaseline exists (on arm64 that is NEON).
enum class Isa {
  kBaseline,  // what every CPU of the architecture has (x86-64: SSE2)
  kAvx2,      // AVX2 + FMA
  kAvx512,    // AVX-512 F, BW, DQ, VL
};

// "baseline", "avx2", "avx512": the names of --isa.
std::string_view Name(Isa isa);

// What this CPU and its kernel can run, in rising order; never empty.
const std::vector<Isa>& HostIsas();

// The ISA that `name` asks for; "native" or "" is the best of HostIsas(). INVALID_ARGUMENT /
// "UNKNOWN_ISA" for another name, FAILED_PRECONDITION / "ISA_NOT_AVAILABLE" when the CPU lacks it.
Result<Isa> ResolveIsa(std::string_view name);

}  // namespace tinyprof
