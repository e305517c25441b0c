// x86-64: eight independent instructions an iteration, then one that counts and one that branches.
//
// Register 8 is the second operand: 1 for divisions, else 0, so that nothing overflows and nothing
// is denormal. Whole registers are zeroed before and after, which leaves no dirty upper halves.
#if defined(__x86_64__)

#include "daemon/counters/calibration/known_loop.h"

namespace tinyprof {
namespace {

#define TINYPROF_KNOWN_LOOP(function, setup, instruction, finish)                               \
  void function(int64_t n) {                                                                    \
    if (n <= 0) return;                                                                         \
    asm volatile(setup ".p2align 5\n1:\n.irp r,0,1,2,3,4,5,6,7\n" instruction                   \
                       "\n.endr\ndecq %0\njnz 1b\n" finish                                      \
                 : "+r"(n)                                                                      \
                 :                                                                              \
                 : "cc", "rax", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");       \
  }

#define TINYPROF_ZERO_SSE ".irp r,0,1,2,3,4,5,6,7,8\nxorps %%xmm\\r, %%xmm\\r\n.endr\n"
#define TINYPROF_ONE_F32 "movl $1, %%eax\ncvtsi2ss %%eax, %%xmm8\nshufps $0, %%xmm8, %%xmm8\n"
#define TINYPROF_ONE_F64 "movl $1, %%eax\ncvtsi2sd %%eax, %%xmm8\nunpcklpd %%xmm8, %%xmm8\n"
// Lets the lower half of the lanes through.
#define TINYPROF_MASK(bits) "movl $" bits ", %%eax\nkmovw %%eax, %%k1\n"

#define TINYPROF_SSE(function, mnemonic) \
  TINYPROF_KNOWN_LOOP(function, TINYPROF_ZERO_SSE, mnemonic " %%xmm8, %%xmm\\r", "")
#define TINYPROF_SSE_DIVIDE(function, mnemonic, one) \
  TINYPROF_KNOWN_LOOP(function, TINYPROF_ZERO_SSE one, mnemonic " %%xmm8, %%xmm\\r", "")
#define TINYPROF_VEX(function, mnemonic, reg)                                                     \
  TINYPROF_KNOWN_LOOP(function, "vzeroall\n", mnemonic " %%" reg "8, %%" reg "\\r, %%" reg "\\r", \
                      "vzeroall\n")
#define TINYPROF_VEX_DIVIDE(function, mnemonic, reg, broadcast, one)                \
  TINYPROF_KNOWN_LOOP(function, "vzeroall\n" one broadcast " %%xmm8, %%" reg "8\n", \
                      mnemonic " %%" reg "8, %%" reg "\\r, %%" reg "\\r", "vzeroall\n")
#define TINYPROF_MASKED(function, mnemonic, mask)                 \
  TINYPROF_KNOWN_LOOP(function, TINYPROF_MASK(mask) "vzeroall\n", \
                      mnemonic " %%zmm8, %%zmm\\r, %%zmm\\r%{%%k1%}", "vzeroall\n")

TINYPROF_SSE(ScalarAddF32, "addss")
TINYPROF_SSE(ScalarAddF64, "addsd")
TINYPROF_SSE(SseAddF32, "addps")
TINYPROF_SSE(SseAddF64, "addpd")
TINYPROF_VEX(Avx2AddF32, "vaddps", "ymm")
TINYPROF_VEX(Avx2AddF64, "vaddpd", "ymm")
TINYPROF_VEX(Avx512AddF32, "vaddps", "zmm")
TINYPROF_VEX(Avx512AddF64, "vaddpd", "zmm")
TINYPROF_MASKED(Avx512AddMaskedF32, "vaddps", "0x00ff")
TINYPROF_MASKED(Avx512AddMaskedF64, "vaddpd", "0x0f")

TINYPROF_VEX(ScalarFmaF32, "vfmadd231ss", "xmm")
TINYPROF_VEX(ScalarFmaF64, "vfmadd231sd", "xmm")
TINYPROF_VEX(SseFmaF32, "vfmadd231ps", "xmm")
TINYPROF_VEX(SseFmaF64, "vfmadd231pd", "xmm")
TINYPROF_VEX(Avx2FmaF32, "vfmadd231ps", "ymm")
TINYPROF_VEX(Avx2FmaF64, "vfmadd231pd", "ymm")
TINYPROF_VEX(Avx512FmaF32, "vfmadd231ps", "zmm")
TINYPROF_VEX(Avx512FmaF64, "vfmadd231pd", "zmm")
TINYPROF_MASKED(Avx512FmaMaskedF32, "vfmadd231ps", "0x00ff")
TINYPROF_MASKED(Avx512FmaMaskedF64, "vfmadd231pd", "0x0f")

TINYPROF_SSE(SseMaxF32, "maxps")
TINYPROF_SSE(SseMinF64, "minpd")
TINYPROF_VEX(Avx2MaxF32, "vmaxps", "ymm")
TINYPROF_VEX(Avx2MinF64, "vminpd", "ymm")
TINYPROF_VEX(Avx512MaxF32, "vmaxps", "zmm")
TINYPROF_VEX(Avx512MinF64, "vminpd", "zmm")

TINYPROF_SSE_DIVIDE(ScalarDivF32, "divss", TINYPROF_ONE_F32)
TINYPROF_SSE_DIVIDE(ScalarDivF64, "divsd", TINYPROF_ONE_F64)
TINYPROF_SSE_DIVIDE(SseDivF32, "divps", TINYPROF_ONE_F32)
TINYPROF_VEX_DIVIDE(Avx2DivF64, "vdivpd", "ymm", "vbroadcastsd", TINYPROF_ONE_F64)
TINYPROF_VEX_DIVIDE(Avx512DivF32, "vdivps", "zmm", "vbroadcastss", TINYPROF_ONE_F32)

enum class Needs { kNothing, kAvx2AndFma, kAvx512 };

struct Row {
  Needs needs;
  const char* name;
  WorkKind kind;
  bool double_precision;
  int64_t width_bits;
  int64_t lanes;
  int64_t active_lanes;
  void (*run)(int64_t);
};

constexpr bool kF32 = false;
constexpr bool kF64 = true;

constexpr Row kRows[] = {
    {Needs::kNothing, "scalar_add_float32", WorkKind::kAdd, kF32, 32, 1, 1, ScalarAddF32},
    {Needs::kNothing, "scalar_add_float64", WorkKind::kAdd, kF64, 64, 1, 1, ScalarAddF64},
    {Needs::kNothing, "sse_add_float32", WorkKind::kAdd, kF32, 128, 4, 4, SseAddF32},
    {Needs::kNothing, "sse_add_float64", WorkKind::kAdd, kF64, 128, 2, 2, SseAddF64},
    {Needs::kAvx2AndFma, "avx2_add_float32", WorkKind::kAdd, kF32, 256, 8, 8, Avx2AddF32},
    {Needs::kAvx2AndFma, "avx2_add_float64", WorkKind::kAdd, kF64, 256, 4, 4, Avx2AddF64},
    {Needs::kAvx512, "avx512_add_float32", WorkKind::kAdd, kF32, 512, 16, 16, Avx512AddF32},
    {Needs::kAvx512, "avx512_add_float64", WorkKind::kAdd, kF64, 512, 8, 8, Avx512AddF64},
    {Needs::kAvx2AndFma, "avx2_fma_float32", WorkKind::kFma, kF32, 256, 8, 8, Avx2FmaF32},
    {Needs::kAvx2AndFma, "avx2_fma_float64", WorkKind::kFma, kF64, 256, 4, 4, Avx2FmaF64},
    {Needs::kAvx512, "avx512_fma_float32", WorkKind::kFma, kF32, 512, 16, 16, Avx512FmaF32},
    {Needs::kAvx512, "avx512_fma_float64", WorkKind::kFma, kF64, 512, 8, 8, Avx512FmaF64},
    {Needs::kNothing, "sse_max_float32", WorkKind::kMinMax, kF32, 128, 4, 4, SseMaxF32},
    {Needs::kAvx2AndFma, "avx2_min_float64", WorkKind::kMinMax, kF64, 256, 4, 4, Avx2MinF64},
    {Needs::kAvx512, "avx512_add_masked_float32", WorkKind::kAdd, kF32, 512, 16, 8,
     Avx512AddMaskedF32},
    {Needs::kAvx512, "avx512_add_masked_float64", WorkKind::kAdd, kF64, 512, 8, 4,
     Avx512AddMaskedF64},
    {Needs::kAvx2AndFma, "scalar_fma_float32", WorkKind::kFma, kF32, 32, 1, 1, ScalarFmaF32},
    {Needs::kAvx2AndFma, "scalar_fma_float64", WorkKind::kFma, kF64, 64, 1, 1, ScalarFmaF64},
    {Needs::kAvx2AndFma, "sse_fma_float32", WorkKind::kFma, kF32, 128, 4, 4, SseFmaF32},
    {Needs::kAvx2AndFma, "sse_fma_float64", WorkKind::kFma, kF64, 128, 2, 2, SseFmaF64},
    {Needs::kAvx512, "avx512_fma_masked_float32", WorkKind::kFma, kF32, 512, 16, 8,
     Avx512FmaMaskedF32},
    {Needs::kAvx512, "avx512_fma_masked_float64", WorkKind::kFma, kF64, 512, 8, 4,
     Avx512FmaMaskedF64},
    {Needs::kNothing, "sse_min_float64", WorkKind::kMinMax, kF64, 128, 2, 2, SseMinF64},
    {Needs::kAvx2AndFma, "avx2_max_float32", WorkKind::kMinMax, kF32, 256, 8, 8, Avx2MaxF32},
    {Needs::kAvx512, "avx512_max_float32", WorkKind::kMinMax, kF32, 512, 16, 16, Avx512MaxF32},
    {Needs::kAvx512, "avx512_min_float64", WorkKind::kMinMax, kF64, 512, 8, 8, Avx512MinF64},
    {Needs::kNothing, "scalar_div_float32", WorkKind::kDivide, kF32, 32, 1, 1, ScalarDivF32},
    {Needs::kNothing, "scalar_div_float64", WorkKind::kDivide, kF64, 64, 1, 1, ScalarDivF64},
    {Needs::kNothing, "sse_div_float32", WorkKind::kDivide, kF32, 128, 4, 4, SseDivF32},
    {Needs::kAvx2AndFma, "avx2_div_float64", WorkKind::kDivide, kF64, 256, 4, 4, Avx2DivF64},
    {Needs::kAvx512, "avx512_div_float32", WorkKind::kDivide, kF32, 512, 16, 16, Avx512DivF32},
};

bool HostHas(Needs needs) {
  switch (needs) {
    case Needs::kNothing:
      return true;
    case Needs::kAvx2AndFma:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    case Needs::kAvx512:
      return __builtin_cpu_supports("avx512f") != 0;
  }
  return false;
}

}  // namespace

std::vector<ArithmeticLoop> HostArithmeticLoops() {
  __builtin_cpu_init();
  std::vector<ArithmeticLoop> loops;
  for (const Row& row : kRows) {
    if (HostHas(row.needs)) {
      loops.push_back({{.name = row.name,
                        .kind = row.kind,
                        .double_precision = row.double_precision,
                        .width_bits = row.width_bits,
                        .lanes = row.lanes,
                        .active_lanes = row.active_lanes,
                        .arithmetic = 8,
                        .instructions = 10},
                       row.run});
    }
  }
  return loops;
}

}  // namespace tinyprof

#endif
