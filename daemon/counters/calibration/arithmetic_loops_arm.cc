// arm64: eight independent instructions an iteration, then one that counts and one that branches.
// Register 8 is the second operand: 1 for divisions, else 0.
#if defined(__aarch64__)

#include "daemon/counters/calibration/known_loop.h"

namespace tinyprof {
namespace {

#define TINYPROF_KNOWN_LOOP(function, setup, instruction)                                         \
  void function(int64_t n) {                                                                      \
    if (n <= 0) return;                                                                           \
    asm volatile(".irp r,0,1,2,3,4,5,6,7,8\nmovi v\\r\\().2d, #0\n.endr\n" setup                  \
                 "1:\n.irp r,0,1,2,3,4,5,6,7\n" instruction "\n.endr\nsubs %0, %0, #1\nb.ne 1b\n" \
                 : "+r"(n)                                                                        \
                 :                                                                                \
                 : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8");                   \
  }

#define TINYPROF_SCALAR(function, mnemonic, reg, setup) \
  TINYPROF_KNOWN_LOOP(function, setup, mnemonic " " reg "\\r, " reg "\\r, " reg "8")
#define TINYPROF_NEON(function, mnemonic, shape, setup) \
  TINYPROF_KNOWN_LOOP(function, setup,                  \
                      mnemonic " v\\r\\()." shape ", v\\r\\()." shape ", v8." shape)

TINYPROF_SCALAR(ScalarAddF32, "fadd", "s", "")
TINYPROF_SCALAR(ScalarAddF64, "fadd", "d", "")
TINYPROF_NEON(NeonAddF32, "fadd", "4s", "")
TINYPROF_NEON(NeonAddF64, "fadd", "2d", "")
TINYPROF_KNOWN_LOOP(ScalarFmaF32, "", "fmadd s\\r, s8, s8, s\\r")
TINYPROF_KNOWN_LOOP(ScalarFmaF64, "", "fmadd d\\r, d8, d8, d\\r")
TINYPROF_KNOWN_LOOP(NeonFmaF32, "", "fmla v\\r\\().4s, v8.4s, v8.4s")
TINYPROF_KNOWN_LOOP(NeonFmaF64, "", "fmla v\\r\\().2d, v8.2d, v8.2d")
TINYPROF_NEON(NeonMaxF32, "fmax", "4s", "")
TINYPROF_NEON(NeonMinF64, "fmin", "2d", "")
TINYPROF_SCALAR(ScalarDivF32, "fdiv", "s", "fmov s8, #1.0\n")
TINYPROF_SCALAR(ScalarDivF64, "fdiv", "d", "fmov d8, #1.0\n")
TINYPROF_NEON(NeonDivF32, "fdiv", "4s", "fmov v8.4s, #1.0\n")

struct Row {
  const char* name;
  WorkKind kind;
  bool double_precision;
  int64_t width_bits;
  int64_t lanes;
  void (*run)(int64_t);
};

constexpr bool kF32 = false;
constexpr bool kF64 = true;

constexpr Row kRows[] = {
    {"scalar_add_float32", WorkKind::kAdd, kF32, 32, 1, ScalarAddF32},
    {"scalar_add_float64", WorkKind::kAdd, kF64, 64, 1, ScalarAddF64},
    {"neon_add_float32", WorkKind::kAdd, kF32, 128, 4, NeonAddF32},
    {"neon_add_float64", WorkKind::kAdd, kF64, 128, 2, NeonAddF64},
    {"neon_fma_float32", WorkKind::kFma, kF32, 128, 4, NeonFmaF32},
    {"neon_fma_float64", WorkKind::kFma, kF64, 128, 2, NeonFmaF64},
    {"neon_max_float32", WorkKind::kMinMax, kF32, 128, 4, NeonMaxF32},
    {"neon_min_float64", WorkKind::kMinMax, kF64, 128, 2, NeonMinF64},
    {"scalar_fma_float32", WorkKind::kFma, kF32, 32, 1, ScalarFmaF32},
    {"scalar_fma_float64", WorkKind::kFma, kF64, 64, 1, ScalarFmaF64},
    {"scalar_div_float32", WorkKind::kDivide, kF32, 32, 1, ScalarDivF32},
    {"scalar_div_float64", WorkKind::kDivide, kF64, 64, 1, ScalarDivF64},
    {"neon_div_float32", WorkKind::kDivide, kF32, 128, 4, NeonDivF32},
};

}  // namespace

std::vector<ArithmeticLoop> HostArithmeticLoops() {
  std::vector<ArithmeticLoop> loops;
  for (const Row& row : kRows) {
    loops.push_back({{.name = row.name,
                      .kind = row.kind,
                      .double_precision = row.double_precision,
                      .width_bits = row.width_bits,
                      .lanes = row.lanes,
                      .active_lanes = row.lanes,
                      .arithmetic = 8,
                      .instructions = 10},
                     row.run});
  }
  return loops;
}

}  // namespace tinyprof

#endif
