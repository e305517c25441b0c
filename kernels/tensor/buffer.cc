#include "kernels/tensor/buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include "kernels/base/words.h"

namespace tinyprof {
namespace {
constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kPageBytes = 4096;

size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
}  // namespace

void Buffer::Unmap::operator()(std::byte* data) const { munmap(data, mapped_bytes); }

Result<Buffer> Buffer::Create(int64_t byte_size) {
  const auto out_of_memory = [byte_size] {
    return Fail(ErrorCode::kResourceExhausted, "OUT_OF_MEMORY",
                fmt::format("the system refused {}", SizeText(byte_size)),
                {{"bytes", std::to_string(byte_size)}});
  };
  if (byte_size < 0 || byte_size > (int64_t{1} << 46)) return out_of_memory();
  const bool huge = static_cast<size_t>(byte_size) >= kHugePageBytes;
  const size_t wanted =
      RoundUp(static_cast<size_t>(byte_size) + 1, huge ? kHugePageBytes : kPageBytes);
  // mmap aligns to pages only: map one huge page more and cut both ends off.
  const size_t mapped = huge ? wanted + kHugePageBytes : wanted;
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return out_of_memory();
  auto* start = static_cast<std::byte*>(base);
  if (huge) {
    auto* aligned =
        reinterpret_cast<std::byte*>(RoundUp(reinterpret_cast<size_t>(base), kHugePageBytes));
    if (aligned != start) munmap(start, static_cast<size_t>(aligned - start));
    const size_t tail = static_cast<size_t>((start + mapped) - (aligned + wanted));
    if (tail > 0) munmap(aligned + wanted, tail);
    madvise(aligned, wanted, MADV_HUGEPAGE);
    start = aligned;
  }
  Buffer buffer;
  buffer.data_ = std::unique_ptr<std::byte[], Unmap>(start, Unmap{wanted});
  buffer.byte_size_ = byte_size;
  return buffer;
}

}  // namespace tinyprof
