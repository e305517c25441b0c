// Floating-point loops for x86-64.
//
// 12 accumulators cover a latency of 4 cycles on 2 units with room to spare. Additions beside FMAs
// all write one register nobody reads, so they wait for nothing. %r15 is the operand, always zero.
#if defined(__x86_64__)

#include "kernels/probes/loop_tables.h"

namespace tinyprof {
namespace {

#define TINYPROF_CLOBBERS                                                                      \
  "cc", "rax", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", \
      "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

// Repeats `text` with \r standing for each accumulator's number in turn.
#define TINYPROF_FOR_EACH(numbers, text) ".irp r," numbers "\n" text ".endr\n"
#define TINYPROF_EVEN "0,2,4,6,8,10"
#define TINYPROF_ODD "1,3,5,7,9,11"
#define TINYPROF_ALL TINYPROF_EVEN "," TINYPROF_ODD
#define TINYPROF_CHAIN(text) ".rept 12\n" text ".endr\n"

#define TINYPROF_LOOP(function, setup, body, finish)          \
  void function(int64_t iterations) {                         \
    if (iterations <= 0) return;                              \
    asm volatile(setup "1:\n" body "decq %0\njnz 1b\n" finish \
                 : "+r"(iterations)                           \
                 :                                            \
                 : TINYPROF_CLOBBERS);                        \
  }

// Zeroing whole registers before and after leaves no dirty upper halves to slow SSE code down.
#define TINYPROF_VEX_LOOP(function, body) TINYPROF_LOOP(function, "vzeroall\n", body, "vzeroall\n")

#define TINYPROF_FMA(reg, type, target) \
  "vfmadd231" type " %%" reg "15, %%" reg "15, %%" reg target "\n"
#define TINYPROF_ADD(reg, type) "vadd" type " %%" reg "15, %%" reg "15, %%" reg "14\n"

#define TINYPROF_MAX(reg, type, target) \
  "vmax" type " %%" reg "15, %%" reg target ", %%" reg target "\n"

#define TINYPROF_FMA_LOOPS(prefix, reg, type)                                                     \
  TINYPROF_VEX_LOOP(prefix##Fma, TINYPROF_FOR_EACH(TINYPROF_ALL, TINYPROF_FMA(reg, type, "\\r"))) \
  TINYPROF_VEX_LOOP(prefix##FmaChain, TINYPROF_CHAIN(TINYPROF_FMA(reg, type, "0")))

#define TINYPROF_VECTOR_LOOPS(prefix, reg, type)                                                   \
  TINYPROF_FMA_LOOPS(prefix, reg, type)                                                            \
  TINYPROF_VEX_LOOP(prefix##FmaAdd, TINYPROF_FOR_EACH(TINYPROF_ALL, TINYPROF_FMA(reg, type, "\\r") \
                                                                        TINYPROF_ADD(reg, type)))  \
  TINYPROF_VEX_LOOP(                                                                               \
      prefix##Fma2Add,                                                                             \
      TINYPROF_FOR_EACH(TINYPROF_EVEN, TINYPROF_FMA(reg, type, "\\r") TINYPROF_ADD(reg, type))     \
          TINYPROF_FOR_EACH(TINYPROF_ODD, TINYPROF_FMA(reg, type, "\\r")))                         \
  TINYPROF_VEX_LOOP(prefix##Max, TINYPROF_FOR_EACH(TINYPROF_ALL, TINYPROF_MAX(reg, type, "\\r")))  \
  TINYPROF_VEX_LOOP(prefix##MaxChain, TINYPROF_CHAIN(TINYPROF_MAX(reg, type, "0")))

TINYPROF_FMA_LOOPS(ScalarF32, "xmm", "ss")
TINYPROF_FMA_LOOPS(ScalarF64, "xmm", "sd")
TINYPROF_VECTOR_LOOPS(Avx2F32, "ymm", "ps")
TINYPROF_VECTOR_LOOPS(Avx2F64, "ymm", "pd")
TINYPROF_VECTOR_LOOPS(Avx512F32, "zmm", "ps")
TINYPROF_VECTOR_LOOPS(Avx512F64, "zmm", "pd")

// k1 lets the lower half of the lanes through.
#define TINYPROF_MASKED_LOOP(function, type, mask)                                         \
  TINYPROF_LOOP(function, "movl $" mask ", %%eax\nkmovw %%eax, %%k1\nvzeroall\n",          \
                TINYPROF_FOR_EACH(TINYPROF_ALL, TINYPROF_FMA("zmm", type, "\\r%{%%k1%}")), \
                "vzeroall\n")
TINYPROF_MASKED_LOOP(Avx512F32FmaMasked, "ps", "0xff")
TINYPROF_MASKED_LOOP(Avx512F64FmaMasked, "pd", "0x0f")

// Two-operand instructions read what they write, so multiplications and additions have accumulators
// of their own: 7 each.
#define TINYPROF_ZERO_XMM TINYPROF_FOR_EACH(TINYPROF_ALL ",12,13,15", "xorps %%xmm\\r, %%xmm\\r\n")
#define TINYPROF_SSE_LOOPS(prefix, type)                                                      \
  TINYPROF_LOOP(prefix##MulAdd, TINYPROF_ZERO_XMM,                                            \
                TINYPROF_FOR_EACH(TINYPROF_EVEN ",12", "mul" type " %%xmm15, %%xmm\\r\n")     \
                    TINYPROF_FOR_EACH(TINYPROF_ODD ",13", "add" type " %%xmm15, %%xmm\\r\n"), \
                "")                                                                           \
  TINYPROF_LOOP(prefix##MulChain, TINYPROF_ZERO_XMM,                                          \
                TINYPROF_CHAIN("mul" type " %%xmm15, %%xmm0\n"), "")
TINYPROF_SSE_LOOPS(ScalarF32, "ss")
TINYPROF_SSE_LOOPS(ScalarF64, "sd")
TINYPROF_SSE_LOOPS(SseF32, "ps")
TINYPROF_SSE_LOOPS(SseF64, "pd")

constexpr DType kF32 = DType::kFloat32;
constexpr DType kF64 = DType::kFloat64;
// Two instructions of each iteration count it and branch.
constexpr InstructionCounts kMulAdd{.mul = 7, .add = 7, .total = 16};
constexpr InstructionCounts kFma{.fma = 12, .total = 14};
constexpr InstructionCounts kFmaAdd{.fma = 12, .add = 12, .total = 26};
constexpr InstructionCounts kFma2Add{.fma = 12, .add = 6, .total = 20};
constexpr InstructionCounts kMax{.max = 12, .total = 14};

constexpr FlopLoop kLoops[] = {
    {"scalar_mul_add_float32", VectorIsa::kScalar, kF32, 1, 1, kMulAdd, ScalarF32MulAdd,
     ScalarF32MulChain},
    {"scalar_mul_add_float64", VectorIsa::kScalar, kF64, 1, 1, kMulAdd, ScalarF64MulAdd,
     ScalarF64MulChain},
    {"scalar_fma_float32", VectorIsa::kScalar, kF32, 1, 1, kFma, ScalarF32Fma, ScalarF32FmaChain},
    {"scalar_fma_float64", VectorIsa::kScalar, kF64, 1, 1, kFma, ScalarF64Fma, ScalarF64FmaChain},
    {"sse_mul_add_float32", VectorIsa::kSse, kF32, 4, 4, kMulAdd, SseF32MulAdd, SseF32MulChain},
    {"sse_mul_add_float64", VectorIsa::kSse, kF64, 2, 2, kMulAdd, SseF64MulAdd, SseF64MulChain},
    {"avx2_fma_float32", VectorIsa::kAvx2, kF32, 8, 8, kFma, Avx2F32Fma, Avx2F32FmaChain},
    {"avx2_fma_float64", VectorIsa::kAvx2, kF64, 4, 4, kFma, Avx2F64Fma, Avx2F64FmaChain},
    {"avx2_fma_add_float32", VectorIsa::kAvx2, kF32, 8, 8, kFmaAdd, Avx2F32FmaAdd, Avx2F32FmaChain},
    {"avx2_fma_add_float64", VectorIsa::kAvx2, kF64, 4, 4, kFmaAdd, Avx2F64FmaAdd, Avx2F64FmaChain},
    {"avx2_fma2_add_float32", VectorIsa::kAvx2, kF32, 8, 8, kFma2Add, Avx2F32Fma2Add,
     Avx2F32FmaChain},
    {"avx2_fma2_add_float64", VectorIsa::kAvx2, kF64, 4, 4, kFma2Add, Avx2F64Fma2Add,
     Avx2F64FmaChain},
    {"avx2_max_float32", VectorIsa::kAvx2, kF32, 8, 8, kMax, Avx2F32Max, Avx2F32MaxChain},
    {"avx2_max_float64", VectorIsa::kAvx2, kF64, 4, 4, kMax, Avx2F64Max, Avx2F64MaxChain},
    {"avx512_fma_float32", VectorIsa::kAvx512, kF32, 16, 16, kFma, Avx512F32Fma, Avx512F32FmaChain},
    {"avx512_fma_float64", VectorIsa::kAvx512, kF64, 8, 8, kFma, Avx512F64Fma, Avx512F64FmaChain},
    {"avx512_fma_add_float32", VectorIsa::kAvx512, kF32, 16, 16, kFmaAdd, Avx512F32FmaAdd,
     Avx512F32FmaChain},
    {"avx512_fma_add_float64", VectorIsa::kAvx512, kF64, 8, 8, kFmaAdd, Avx512F64FmaAdd,
     Avx512F64FmaChain},
    {"avx512_fma2_add_float32", VectorIsa::kAvx512, kF32, 16, 16, kFma2Add, Avx512F32Fma2Add,
     Avx512F32FmaChain},
    {"avx512_fma2_add_float64", VectorIsa::kAvx512, kF64, 8, 8, kFma2Add, Avx512F64Fma2Add,
     Avx512F64FmaChain},
    {"avx512_fma_masked_float32", VectorIsa::kAvx512, kF32, 16, 8, kFma, Avx512F32FmaMasked,
     Avx512F32FmaChain},
    {"avx512_fma_masked_float64", VectorIsa::kAvx512, kF64, 8, 4, kFma, Avx512F64FmaMasked,
     Avx512F64FmaChain},
    {"avx512_max_float32", VectorIsa::kAvx512, kF32, 16, 16, kMax, Avx512F32Max, Avx512F32MaxChain},
    {"avx512_max_float64", VectorIsa::kAvx512, kF64, 8, 8, kMax, Avx512F64Max, Avx512F64MaxChain},
};

}  // namespace

std::span<const FlopLoop> AllFlopLoops() { return kLoops; }

}  // namespace tinyprof

#endif  // __x86_64__
