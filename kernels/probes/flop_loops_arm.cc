// Floating-point loops for arm64.
//
// 20 accumulators cover a latency of 4 cycles on 4 units with room to spare. Additions beside FMAs
// all write one register nobody reads. Register 31 is the operand, always zero.
#if defined(__aarch64__)

#include "kernels/probes/loop_tables.h"

namespace tinyprof {
namespace {

#define TINYPROF_CLOBBERS                                                                       \
  "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", \
      "v14", "v15", "v16", "v17", "v18", "v19", "v30", "v31"

#define TINYPROF_EVEN "0,2,4,6,8,10,12,14,16,18"
#define TINYPROF_ODD "1,3,5,7,9,11,13,15,17,19"
#define TINYPROF_ALL TINYPROF_EVEN "," TINYPROF_ODD
#define TINYPROF_FOR_EACH(numbers, text) ".irp r," numbers "\n" text ".endr\n"

#define TINYPROF_LOOP(function, body)                                            \
  void function(int64_t iterations) {                                            \
    if (iterations <= 0) return;                                                 \
    asm volatile(TINYPROF_FOR_EACH(TINYPROF_EVEN "," TINYPROF_ODD ",31",         \
                                   "movi v\\r\\().2d, #0\n") "1:\n" body         \
                                                             "subs %0, %0, #1\n" \
                                                             "b.ne 1b\n"         \
                 : "+r"(iterations)                                              \
                 :                                                               \
                 : TINYPROF_CLOBBERS);                                           \
  }

#define TINYPROF_CHAIN(text) ".rept 12\n" text ".endr\n"

// `suffix` is the arrangement of a vector, as in ".4s".
#define TINYPROF_NEON_FMA(suffix, target) "fmla v" target suffix ", v31" suffix ", v31" suffix "\n"
#define TINYPROF_NEON_ADD(suffix) "fadd v30" suffix ", v31" suffix ", v31" suffix "\n"
#define TINYPROF_NEON_MAX(suffix, target) \
  "fmax v" target suffix ", v" target suffix ", v31" suffix "\n"
#define TINYPROF_EACH "\\r\\()"

#define TINYPROF_NEON_LOOPS(prefix, suffix)                                                    \
  TINYPROF_LOOP(prefix##Fma,                                                                   \
                TINYPROF_FOR_EACH(TINYPROF_ALL, TINYPROF_NEON_FMA(suffix, TINYPROF_EACH)))     \
  TINYPROF_LOOP(prefix##FmaChain, TINYPROF_CHAIN(TINYPROF_NEON_FMA(suffix, "0")))              \
  TINYPROF_LOOP(prefix##FmaAdd,                                                                \
                TINYPROF_FOR_EACH(TINYPROF_ALL, TINYPROF_NEON_FMA(suffix, TINYPROF_EACH)       \
                                                    TINYPROF_NEON_ADD(suffix)))                \
  TINYPROF_LOOP(prefix##Fma2Add,                                                               \
                TINYPROF_FOR_EACH(TINYPROF_EVEN, TINYPROF_NEON_FMA(suffix, TINYPROF_EACH)      \
                                                     TINYPROF_NEON_ADD(suffix))                \
                    TINYPROF_FOR_EACH(TINYPROF_ODD, TINYPROF_NEON_FMA(suffix, TINYPROF_EACH))) \
  TINYPROF_LOOP(prefix##Max,                                                                   \
                TINYPROF_FOR_EACH(TINYPROF_ALL, TINYPROF_NEON_MAX(suffix, TINYPROF_EACH)))     \
  TINYPROF_LOOP(prefix##MaxChain, TINYPROF_CHAIN(TINYPROF_NEON_MAX(suffix, "0")))

TINYPROF_NEON_LOOPS(NeonF32, ".4s")
TINYPROF_NEON_LOOPS(NeonF64, ".2d")

#define TINYPROF_SCALAR_FMA(reg, target) \
  "fmadd " reg target ", " reg "31, " reg "31, " reg target "\n"
#define TINYPROF_SCALAR_LOOPS(prefix, reg)                                                     \
  TINYPROF_LOOP(prefix##Fma, TINYPROF_FOR_EACH(TINYPROF_ALL, TINYPROF_SCALAR_FMA(reg, "\\r"))) \
  TINYPROF_LOOP(prefix##FmaChain, TINYPROF_CHAIN(TINYPROF_SCALAR_FMA(reg, "0")))
TINYPROF_SCALAR_LOOPS(ScalarF32, "s")
TINYPROF_SCALAR_LOOPS(ScalarF64, "d")

constexpr DType kF32 = DType::kFloat32;
constexpr DType kF64 = DType::kFloat64;
// Two instructions of each iteration count it and branch.
constexpr InstructionCounts kFma{.fma = 20, .total = 22};
constexpr InstructionCounts kFmaAdd{.fma = 20, .add = 20, .total = 42};
constexpr InstructionCounts kFma2Add{.fma = 20, .add = 10, .total = 32};
constexpr InstructionCounts kMax{.max = 20, .total = 22};

constexpr FlopLoop kLoops[] = {
    {"scalar_fma_float32", VectorIsa::kScalar, kF32, 1, 1, kFma, ScalarF32Fma, ScalarF32FmaChain},
    {"scalar_fma_float64", VectorIsa::kScalar, kF64, 1, 1, kFma, ScalarF64Fma, ScalarF64FmaChain},
    {"neon_fma_float32", VectorIsa::kNeon, kF32, 4, 4, kFma, NeonF32Fma, NeonF32FmaChain},
    {"neon_fma_float64", VectorIsa::kNeon, kF64, 2, 2, kFma, NeonF64Fma, NeonF64FmaChain},
    {"neon_fma_add_float32", VectorIsa::kNeon, kF32, 4, 4, kFmaAdd, NeonF32FmaAdd, NeonF32FmaChain},
    {"neon_fma_add_float64", VectorIsa::kNeon, kF64, 2, 2, kFmaAdd, NeonF64FmaAdd, NeonF64FmaChain},
    {"neon_fma2_add_float32", VectorIsa::kNeon, kF32, 4, 4, kFma2Add, NeonF32Fma2Add,
     NeonF32FmaChain},
    {"neon_fma2_add_float64", VectorIsa::kNeon, kF64, 2, 2, kFma2Add, NeonF64Fma2Add,
     NeonF64FmaChain},
    {"neon_max_float32", VectorIsa::kNeon, kF32, 4, 4, kMax, NeonF32Max, NeonF32MaxChain},
    {"neon_max_float64", VectorIsa::kNeon, kF64, 2, 2, kMax, NeonF64Max, NeonF64MaxChain},
};

}  // namespace

std::span<const FlopLoop> AllFlopLoops() { return kLoops; }

}  // namespace tinyprof

#endif  // __aarch64__
