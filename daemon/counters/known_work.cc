#include "daemon/counters/known_work.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "daemon/counters/calibration/memory_loops.h"
#include "daemon/counters/declared_known_work.h"
#include "kernels/base/declared_work.h"

namespace tinyprof {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)

// Some tens of microseconds each.
constexpr int64_t kIterations = 20'000;
constexpr int64_t kDivideIterations = 2'000;

std::vector<KnownLoop> MakeLoops(std::span<const Cache> caches) {
  std::vector<KnownLoop> loops;
  for (const ArithmeticLoop& loop : HostArithmeticLoops()) {
    const bool divides = loop.facts.kind == WorkKind::kDivide;
    loops.push_back({.facts = loop.facts,
                     .iterations = divides ? kDivideIterations : kIterations,
                     .run = loop.run});
  }
  for (const LoadSet& set : LoadSetsFor(caches)) {
    loops.push_back(MakeLoadLoop(set));
  }
  loops.push_back(MakeBranchLoop());
  loops.push_back(MakePagesLoop());
  return loops;
}

#endif

// Not instrumented: a sanitizer's shadow has page faults of its own.
__attribute__((noinline, no_sanitize("address", "thread"))) void FreshPages(int64_t n) {
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

KnownWork HostKnownWork(std::span<const Cache> caches) {
  KnownWork work;
#if defined(__x86_64__) || defined(__aarch64__)
  work.loops = MakeLoops(caches);
#endif
  work.fresh_pages = FreshPages;
  return WorkIsDeclared() ? Declaring(std::move(work)) : work;
}

KnownWork HostKnownWork() {
  const Result<std::vector<Cache>> caches = ReadCaches("/", std::max(0, sched_getcpu()));
  return HostKnownWork(caches.has_value() ? std::span<const Cache>(*caches)
                                          : std::span<const Cache>());
}

}  // namespace tinyprof
