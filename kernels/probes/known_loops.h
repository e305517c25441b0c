// Loops of instructions whose numbers are known exactly: what the peak probe runs. Those that
// hardware counters are calibrated with have one kind of instruction each
// (daemon/counters/calibration).
//
// Every loop is one block of assembly, so that no compiler adds, drops or fuses anything. Operands
// are zero: nothing overflows, and no result is denormal.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/tensor/dtype.h"

namespace tinyprof {

// Register kinds a loop can use. x86-64: all but kNeon; arm64: kScalar and kNeon.
enum class VectorIsa { kScalar, kSse, kAvx2, kAvx512, kNeon };
// "scalar", "sse", "avx2", "avx512", "neon".
std::string_view Name(VectorIsa isa);

// Instructions by kind. `total` has the loop's own counting and branching in it.
struct InstructionCounts {
  int64_t fma = 0;
  int64_t mul = 0;
  int64_t add = 0;
  int64_t max = 0;
  int64_t total = 0;

  friend bool operator==(const InstructionCounts&, const InstructionCounts&) = default;
};

struct FlopLoop {
  std::string_view name;  // "avx2_fma_float32"
  VectorIsa isa = VectorIsa::kScalar;
  DType dtype = DType::kFloat32;
  int lanes = 1;         // elements in a register
  int active_lanes = 1;  // elements that the mask lets through; `lanes` without a mask
  InstructionCounts per_iteration;
  // Runs the loop; nothing when iterations <= 0. The register file is in its initial state after.
  void (*run)(int64_t iterations) = nullptr;
  // The same kind and width of instruction, kChainLength of them an iteration, each waiting for the
  // one before: their rate times their latency, a whole number, is the clock of a core whose wide
  // units are on.
  void (*run_chain)(int64_t iterations) = nullptr;

  // Floating-point operations of active lanes: an FMA is two, a maximum none (`per_iteration.max`
  // says how many there are, since vendors do not agree on them).
  int64_t flops_per_iteration() const {
    return active_lanes * (2 * per_iteration.fma + per_iteration.mul + per_iteration.add);
  }
};

inline constexpr int64_t kChainLength = 12;

// Outside the loop's iterations, `run` executes fewer instructions than this.
inline constexpr int64_t kLoopSetupInstructionLimit = 64;

// The loops this CPU can run. Names end in the dtype; before it:
//   scalar_mul_add, sse_mul_add   separate multiplications and additions, as many of each
//   scalar_fma, avx2_fma, avx512_fma, neon_fma
//   X_fma_add, X_fma2_add         one addition to each FMA, or to every second one
//   avx512_fma_masked             half of the lanes masked off
//   X_max                         maxima only
std::span<const FlopLoop> HostFlopLoops();

// The loop of that name if this CPU can run it, or null.
const FlopLoop* FindFlopLoop(std::string_view name);

}  // namespace tinyprof
