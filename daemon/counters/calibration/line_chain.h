// Lines of memory that point to one another in a ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tinyprof {

class LineChain {
 public:
  struct Shape {
    int64_t lines = 0;
    int64_t spacing_bytes = 0;  // at least kLineBytes
    bool in_order = false;      // else in an order that prefetchers do not guess
    bool small_pages = false;   // ask for no huge pages
  };
  static constexpr int64_t kLineBytes = 64;

  explicit LineChain(const Shape& shape);
  ~LineChain();
  LineChain(const LineChain&) = delete;
  LineChain& operator=(const LineChain&) = delete;

  // Whether the system gave the memory; the calls below do nothing otherwise.
  bool ready() const { return memory_ != nullptr; }
  // The line that is loaded next: it holds the address of the one after it.
  const void* next_line() const { return Address(at_); }
  // Follows n pointers from where the last call stopped.
  void Follow(int64_t n);
  // Takes the next n lines (at most all) out of every cache.
  void FlushNext(int64_t n);

 private:
  // The line at a place in the ring.
  std::byte* Address(size_t place) const;

  Shape shape_;
  std::byte* memory_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::vector<uint32_t> order_;  // lines in the order of the ring
  size_t at_ = 0;                // place in the ring of the line to be loaded next
};

}  // namespace tinyprof
