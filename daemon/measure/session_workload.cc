#include "daemon/measure/session_workload.h"

namespace tinyprof {
namespace {

constexpr size_t kLineBytes = 64;
// Second-level caches have up to 4 MiB on the CPUs we know; four times that also defeats
// replacement policies that keep old lines for a while.
constexpr int64_t kSweepBytes = int64_t{16} << 20;

void FlushBlock(std::span<const std::byte> block) {
  for (size_t offset = 0; offset < block.size(); offset += kLineBytes) {
#if defined(__x86_64__)
    asm volatile("clflush (%0)" : : "r"(block.data() + offset) : "memory");
#elif defined(__aarch64__)
    asm volatile("dc civac, %0" : : "r"(block.data() + offset) : "memory");
#endif
  }
#if defined(__x86_64__)
  asm volatile("mfence" : : : "memory");
#elif defined(__aarch64__)
  asm volatile("dsb ish" : : : "memory");
#endif
}

}  // namespace

Result<SessionWorkload> SessionWorkload::Create(Session& session, bool will_flush) {
  SessionWorkload workload(session);
  if (will_flush) {
    workload.blocks_ = session.memory_blocks();
    TINYPROF_ASSIGN_OR_RETURN(workload.sweep_, Buffer::Create(kSweepBytes));
  }
  return workload;
}

void SessionWorkload::FlushCaches() noexcept {
  for (const std::span<const std::byte> block : blocks_) {
    FlushBlock(block);
  }
  volatile std::byte* const sweep = sweep_.data();
  for (int64_t offset = 0; offset < sweep_.byte_size(); offset += kLineBytes) {
    sweep[offset] = std::byte{1};
  }
}

}  // namespace tinyprof
