// Memory loops for x86-64: blocks of 512 bytes of each array, 8 registers in turn.
#if defined(__x86_64__)

#include "kernels/base/check.h"
#include "kernels/probes/loop_tables.h"

namespace tinyprof {
namespace {

#define TINYPROF_CLOBBERS                                                                         \
  "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", \
      "xmm15"

// `step` is the bytes of 8 registers; \r is the register's number and, times the width, its offset.
#define TINYPROF_EACH_REGISTER(text) ".irp r,0,1,2,3,4,5,6,7\n" text ".endr\n"
#define TINYPROF_BLOCKS(step) ".set offset,0\n.rept 512/" step "\n"
#define TINYPROF_BLOCKS_END(step) ".set offset,offset+" step "\n.endr\n"

#define TINYPROF_LOOP(function, setup, body, advance, finish)                            \
  void function([[maybe_unused]] std::byte* target, [[maybe_unused]] const std::byte* a, \
                [[maybe_unused]] const std::byte* b, int64_t bytes) {                    \
    TINYPROF_CHECK(bytes >= 0 && bytes % kMemoryBlockBytes == 0);                        \
    const std::byte* const end = a + bytes;                                              \
    if (a == end) return;                                                                \
    const float scale = 3;                                                               \
    asm volatile(setup "1:\n" body advance                                               \
                       "addq $512, %[a]\n"                                               \
                       "cmpq %[end], %[a]\n"                                             \
                       "jne 1b\n" finish                                                 \
                 : [target] "+r"(target), [a] "+r"(a), [b] "+r"(b)                       \
                 : [end] "r"(end), [scale] "m"(scale)                                    \
                 : TINYPROF_CLOBBERS);                                                   \
  }

#define TINYPROF_ADVANCE_TARGET "addq $512, %[target]\n"
#define TINYPROF_ADVANCE_BOTH "addq $512, %[target]\naddq $512, %[b]\n"
#define TINYPROF_AT(pointer, width) "offset+" width "*\\r(%[" pointer "])"

#define TINYPROF_OVER_BLOCK(step, text) \
  TINYPROF_BLOCKS(step) TINYPROF_EACH_REGISTER(text) TINYPROF_BLOCKS_END(step)

#define TINYPROF_VEX_LOAD(reg, width) "vmovaps " TINYPROF_AT("a", width) ", %%" reg "\\r\n"
#define TINYPROF_VEX_STORE(move, reg, width) \
  move " %%" reg "\\r, " TINYPROF_AT("target", width) "\n"
#define TINYPROF_VEX_FMA(reg, width) \
  "vfmadd231ps " TINYPROF_AT("b", width) ", %%" reg "15, %%" reg "\\r\n"

#define TINYPROF_VEX_LOOPS(prefix, reg, width, step)                                            \
  TINYPROF_LOOP(prefix##Load, "", TINYPROF_OVER_BLOCK(step, TINYPROF_VEX_LOAD(reg, width)), "", \
                "vzeroupper\n")                                                                 \
  TINYPROF_VEX_STORING(prefix##Copy, prefix##Triad, "vmovaps", "", reg, width, step)            \
  TINYPROF_VEX_STORING(prefix##CopyNt, prefix##TriadNt, "vmovntps", "sfence\n", reg, width, step)

#define TINYPROF_VEX_STORING(copy, triad, move, fence, reg, width, step)                         \
  TINYPROF_LOOP(copy, "",                                                                        \
                TINYPROF_OVER_BLOCK(                                                             \
                    step, TINYPROF_VEX_LOAD(reg, width) TINYPROF_VEX_STORE(move, reg, width)),   \
                TINYPROF_ADVANCE_TARGET, fence "vzeroupper\n")                                   \
  TINYPROF_LOOP(triad, "vbroadcastss %[scale], %%" reg "15\n",                                   \
                TINYPROF_OVER_BLOCK(step, TINYPROF_VEX_LOAD(reg, width) TINYPROF_VEX_FMA(        \
                                              reg, width) TINYPROF_VEX_STORE(move, reg, width)), \
                TINYPROF_ADVANCE_BOTH, fence "vzeroupper\n")

TINYPROF_VEX_LOOPS(Avx2, "ymm", "32", "256")
TINYPROF_VEX_LOOPS(Avx512, "zmm", "64", "512")

#define TINYPROF_SSE_LOAD(pointer, reg) "movaps " TINYPROF_AT(pointer, "16") ", %%" reg "\n"
#define TINYPROF_SSE_STORE(move) move " %%xmm\\r, " TINYPROF_AT("target", "16") "\n"
#define TINYPROF_SSE_STORING(copy, triad, move, fence)                                       \
  TINYPROF_LOOP(                                                                             \
      copy, "",                                                                              \
      TINYPROF_OVER_BLOCK("128", TINYPROF_SSE_LOAD("a", "xmm\\r") TINYPROF_SSE_STORE(move)), \
      TINYPROF_ADVANCE_TARGET, fence)                                                        \
  TINYPROF_LOOP(                                                                             \
      triad, "movss %[scale], %%xmm15\nshufps $0, %%xmm15, %%xmm15\n",                       \
      TINYPROF_OVER_BLOCK(                                                                   \
          "128", TINYPROF_SSE_LOAD(                                                          \
                     "b", "xmm\\r") "mulps %%xmm15, %%xmm\\r\n"                              \
                                    "addps " TINYPROF_AT(                                    \
                                        "a", "16") ", %%xmm\\r\n" TINYPROF_SSE_STORE(move)), \
      TINYPROF_ADVANCE_BOTH, fence)

TINYPROF_LOOP(SseLoad, "", TINYPROF_OVER_BLOCK("128", TINYPROF_SSE_LOAD("a", "xmm\\r")), "", "")
TINYPROF_SSE_STORING(SseCopy, SseTriad, "movaps", "")
TINYPROF_SSE_STORING(SseCopyNt, SseTriadNt, "movntps", "sfence\n")

constexpr MemoryOp kLoad = MemoryOp::kLoad;
constexpr MemoryOp kCopy = MemoryOp::kCopy;
constexpr MemoryOp kTriad = MemoryOp::kTriad;
constexpr MemoryOp kCopyNt = MemoryOp::kCopyNonTemporal;
constexpr MemoryOp kTriadNt = MemoryOp::kTriadNonTemporal;

// Beside loads, stores and arithmetic, a block has a compare, a branch and one addition a pointer.
constexpr MemoryLoop kLoops[] = {
    {VectorIsa::kSse, kLoad, 16, 32, 0, 32 + 3, SseLoad},
    {VectorIsa::kSse, kCopy, 16, 32, 32, 64 + 4, SseCopy},
    {VectorIsa::kSse, kTriad, 16, 64, 32, 128 + 5, SseTriad},
    {VectorIsa::kSse, kCopyNt, 16, 32, 32, 64 + 4, SseCopyNt},
    {VectorIsa::kSse, kTriadNt, 16, 64, 32, 128 + 5, SseTriadNt},
    {VectorIsa::kAvx2, kLoad, 32, 16, 0, 16 + 3, Avx2Load},
    {VectorIsa::kAvx2, kCopy, 32, 16, 16, 32 + 4, Avx2Copy},
    {VectorIsa::kAvx2, kTriad, 32, 32, 16, 48 + 5, Avx2Triad},
    {VectorIsa::kAvx2, kCopyNt, 32, 16, 16, 32 + 4, Avx2CopyNt},
    {VectorIsa::kAvx2, kTriadNt, 32, 32, 16, 48 + 5, Avx2TriadNt},
    {VectorIsa::kAvx512, kLoad, 64, 8, 0, 8 + 3, Avx512Load},
    {VectorIsa::kAvx512, kCopy, 64, 8, 8, 16 + 4, Avx512Copy},
    {VectorIsa::kAvx512, kTriad, 64, 16, 8, 24 + 5, Avx512Triad},
    {VectorIsa::kAvx512, kCopyNt, 64, 8, 8, 16 + 4, Avx512CopyNt},
    {VectorIsa::kAvx512, kTriadNt, 64, 16, 8, 24 + 5, Avx512TriadNt},
};

}  // namespace

std::span<const MemoryLoop> AllMemoryLoops() { return kLoops; }

}  // namespace tinyprof

#endif  // __x86_64__
