#include "daemon/counters/calibration/line_chain.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace tinyprof {
namespace {

#if defined(__x86_64__)

void FollowPointers(const void* line, int64_t n) {
  asm volatile("1:\nmovq (%0), %0\ndecq %1\njnz 1b" : "+r"(line), "+r"(n) : : "cc", "memory");
}
void FlushLine(const std::byte* line) { asm volatile("clflush (%0)" : : "r"(line) : "memory"); }
void FlushFence() { asm volatile("mfence" : : : "memory"); }

#elif defined(__aarch64__)

void FollowPointers(const void* line, int64_t n) {
  asm volatile("1:\nldr %0, [%0]\nsubs %1, %1, #1\nb.ne 1b"
               : "+r"(line), "+r"(n)
               :
               : "cc", "memory");
}
void FlushLine(const std::byte* line) { asm volatile("dc civac, %0" : : "r"(line) : "memory"); }
void FlushFence() { asm volatile("dsb ish" : : : "memory"); }

#endif

}  // namespace

LineChain::LineChain(const Shape& shape) : shape_(shape) {
  mapped_bytes_ = static_cast<size_t>(shape.lines * shape.spacing_bytes);
  void* const mapped =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return;
  }
  memory_ = static_cast<std::byte*>(mapped);
  if (shape.small_pages) {
    madvise(mapped, mapped_bytes_, MADV_NOHUGEPAGE);
  }
  order_.resize(static_cast<size_t>(shape.lines));
  std::iota(order_.begin(), order_.end(), 0U);
  if (!shape.in_order) {
    // The same ring each time.
    std::mt19937 generator(1);  // NOLINT(bugprone-random-generator-seed)
    std::shuffle(order_.begin(), order_.end(), generator);
  }
  for (size_t i = 0; i < order_.size(); ++i) {
    const std::byte* const next = Address(i + 1);
    std::memcpy(Address(i), static_cast<const void*>(&next), sizeof(next));
  }
}

LineChain::~LineChain() {
  if (memory_ != nullptr) {
    munmap(memory_, mapped_bytes_);
  }
}

std::byte* LineChain::Address(size_t place) const {
  const auto line = static_cast<size_t>(order_[place % order_.size()]);
  const auto spacing = static_cast<size_t>(shape_.spacing_bytes);
  // Lines a page apart, all at its beginning, would fall into few sets of a cache.
  const size_t shift = line % (spacing / size_t{kLineBytes});
  return memory_ + line * spacing + shift * size_t{kLineBytes};
}

void LineChain::Follow(int64_t n) {
  if (n <= 0 || !ready()) {
    return;
  }
  FollowPointers(next_line(), n);
  at_ = (at_ + static_cast<size_t>(n)) % order_.size();
}

void LineChain::FlushNext(int64_t n) {
  if (!ready()) {
    return;
  }
  const auto lines = std::min(static_cast<size_t>(std::max<int64_t>(n, 0)), order_.size());
  for (size_t i = 0; i < lines; ++i) {
    FlushLine(Address(at_ + i));
  }
  FlushFence();
}

}  // namespace tinyprof
