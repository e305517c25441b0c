// A Zen 4 by its events' names.
#pragma once

#include "fake_cpu.h"

namespace tinyprof {

constexpr const char* kCycles = "CYCLES_NOT_IN_HALT";
constexpr const char* kInstructions = "RETIRED_INSTRUCTIONS";
constexpr const char* kFlops = "RETIRED_SSE_AVX_FLOPS:ANY";
constexpr const char* kL1 = "REQUESTS_TO_L2_GROUP1:RD_BLK_L:RD_BLK_X:LS_RD_BLK_C_S:CHANGE_TO_X";

// Cycles, instructions, L1 misses, and FLOPs: an FMA counts as two, masked lanes do not, nor do
// maxima, and of the rest `flops_share` is counted.
inline void GiveZen4Events(FakeCpu& cpu, double flops_share) {
  cpu.Has(kCycles, [](const LoopFacts& facts) { return facts.instructions * 2; });
  cpu.Has(kInstructions, [](const LoopFacts& facts) { return facts.instructions; });
  cpu.Has(kFlops, [flops_share](const LoopFacts& facts) {
    return static_cast<double>(facts.FlopsPerIteration({true, false, false})) * flops_share;
  });
  cpu.Has(kL1, [](const LoopFacts& facts) { return facts.set > WorkingSet::kL1 ? 1 : 0; });
}

}  // namespace tinyprof
