#include "daemon/counters/known_work.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "daemon/counters/declared_known_work.h"
#include "kernels/base/declared_work.h"

namespace tinyprof {
namespace {

constexpr size_t kLineBytes = 64;

#if defined(__x86_64__)

void Arithmetic(int64_t n) {
  if (n <= 0) {
    return;
  }
  asm volatile(
      "xorps %%xmm0, %%xmm0\n\t"
      "xorps %%xmm1, %%xmm1\n\t"
      ".p2align 5\n"
      "1:\n\t"
      "addps %%xmm1, %%xmm0\n\t"
      "subq $1, %0\n\t"
      "jnz 1b"
      : "+r"(n)
      :
      : "xmm0", "xmm1", "cc");
}

void FlushLine(const std::byte* line) { asm volatile("clflush (%0)" : : "r"(line) : "memory"); }
void FlushFence() { asm volatile("mfence" : : : "memory"); }

#elif defined(__aarch64__)

void Arithmetic(int64_t n) {
  if (n <= 0) {
    return;
  }
  asm volatile(
      "movi v0.4s, #0\n\t"
      "movi v1.4s, #0\n"
      "1:\n\t"
      "fadd v0.4s, v0.4s, v1.4s\n\t"
      "subs %0, %0, #1\n\t"
      "b.ne 1b"
      : "+r"(n)
      :
      : "v0", "v1", "cc");
}

void FlushLine(const std::byte* line) { asm volatile("dc civac, %0" : : "r"(line) : "memory"); }
void FlushFence() { asm volatile("dsb ish" : : : "memory"); }

#endif

#if defined(__x86_64__) || defined(__aarch64__)

void ColdLines(int64_t n) {
  // An odd stride of lines over a power of two visits every slot once and crosses a page each time.
  constexpr size_t kSlots = size_t{1} << 14;
  constexpr size_t kStride = 4099;
  static std::vector<std::byte> memory(kSlots * kLineBytes, std::byte{1});
  const auto lines = static_cast<size_t>(n) < kSlots ? static_cast<size_t>(n) : kSlots;
  const auto line_at = [&](size_t i) {
    return memory.data() + (i * kStride % kSlots) * kLineBytes;
  };
  for (size_t i = 0; i < lines; ++i) {
    FlushLine(line_at(i));
  }
  FlushFence();
  for (size_t i = 0; i < lines; ++i) {
    static_cast<void>(*static_cast<volatile const std::byte*>(line_at(i)));
  }
}

#endif

void FreshPages(int64_t n) {
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = static_cast<size_t>(n) * page_bytes;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return;
  }
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  auto* const page = static_cast<volatile std::byte*>(memory);
  for (size_t offset = 0; offset < bytes; offset += page_bytes) {
    page[offset] = std::byte{1};
  }
  munmap(memory, bytes);
}

}  // namespace

KnownWork HostKnownWork() {
  KnownWork work;
#if defined(__x86_64__) || defined(__aarch64__)
  work.arithmetic = Arithmetic;
  work.cold_lines = ColdLines;
#endif
  work.fresh_pages = FreshPages;
  return WorkIsDeclared() ? Declaring(std::move(work)) : work;
}

}  // namespace tinyprof
