// Memory loops for arm64: blocks of 512 bytes of each array, pairs of 16-byte registers.
#if defined(__aarch64__)

#include "kernels/base/check.h"
#include "kernels/probes/loop_tables.h"

namespace tinyprof {
namespace {

#define TINYPROF_CLOBBERS "cc", "memory", "v0", "v1", "v2", "v3", "v31"

#define TINYPROF_LOOP(function, setup, body)                                             \
  void function([[maybe_unused]] std::byte* target, [[maybe_unused]] const std::byte* a, \
                [[maybe_unused]] const std::byte* b, int64_t bytes) {                    \
    TINYPROF_CHECK(bytes >= 0 && bytes % kMemoryBlockBytes == 0);                        \
    const std::byte* const end = a + bytes;                                              \
    if (a == end) return;                                                                \
    asm volatile(setup "1:\n.irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n" body         \
                       ".endr\n"                                                         \
                       "add %[a], %[a], #512\n"                                          \
                       "add %[b], %[b], #512\n"                                          \
                       "add %[target], %[target], #512\n"                                \
                       "cmp %[a], %[end]\n"                                              \
                       "b.ne 1b\n"                                                       \
                 : [target] "+r"(target), [a] "+r"(a), [b] "+r"(b)                       \
                 : [end] "r"(end)                                                        \
                 : TINYPROF_CLOBBERS);                                                   \
  }

#define TINYPROF_LOAD_A "ldp q0, q1, [%[a], #32*\\r]\n"
#define TINYPROF_LOAD_B "ldp q2, q3, [%[b], #32*\\r]\n"
#define TINYPROF_STORE(move) move " q0, q1, [%[target], #32*\\r]\n"
#define TINYPROF_FMA "fmla v0.4s, v2.4s, v31.4s\nfmla v1.4s, v3.4s, v31.4s\n"
#define TINYPROF_SCALE "fmov v31.4s, #3.0\n"

TINYPROF_LOOP(NeonLoad, "", TINYPROF_LOAD_A)
TINYPROF_LOOP(NeonCopy, "", TINYPROF_LOAD_A TINYPROF_STORE("stp"))
TINYPROF_LOOP(NeonCopyNt, "", TINYPROF_LOAD_A TINYPROF_STORE("stnp"))
TINYPROF_LOOP(NeonTriad, TINYPROF_SCALE,
              TINYPROF_LOAD_A TINYPROF_LOAD_B TINYPROF_FMA TINYPROF_STORE("stp"))
TINYPROF_LOOP(NeonTriadNt, TINYPROF_SCALE,
              TINYPROF_LOAD_A TINYPROF_LOAD_B TINYPROF_FMA TINYPROF_STORE("stnp"))

constexpr VectorIsa kNeon = VectorIsa::kNeon;

// An instruction loads or stores a pair. Beside them and the arithmetic, a block has a compare, a
// branch and three additions to pointers.
constexpr MemoryLoop kLoops[] = {
    {kNeon, MemoryOp::kLoad, 32, 16, 0, 16 + 5, NeonLoad},
    {kNeon, MemoryOp::kCopy, 32, 16, 16, 32 + 5, NeonCopy},
    {kNeon, MemoryOp::kTriad, 32, 32, 16, 80 + 5, NeonTriad},
    {kNeon, MemoryOp::kCopyNonTemporal, 32, 16, 16, 32 + 5, NeonCopyNt},
    {kNeon, MemoryOp::kTriadNonTemporal, 32, 32, 16, 80 + 5, NeonTriadNt},
};

}  // namespace

std::span<const MemoryLoop> AllMemoryLoops() { return kLoops; }

}  // namespace tinyprof

#endif  // __aarch64__
