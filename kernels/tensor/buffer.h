// Aligned memory for tensors, and views of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "kernels/base/error.h"
#include "kernels/tensor/shape.h"

namespace tinyprof {

// A block of zeroed memory at a 64-byte boundary (a cache line and an AVX-512 vector); blocks of
// 2 MiB and more sit at a 2 MiB boundary and ask the kernel for huge pages. Move-only.
class Buffer {
 public:
  static constexpr size_t kAlignment = 64;

  Buffer() {}  // empty
  // RESOURCE_EXHAUSTED / "OUT_OF_MEMORY" when the system refuses.
  static Result<Buffer> Create(int64_t byte_size);

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  int64_t byte_size() const { return byte_size_; }

 private:
  struct Unmap {
    Unmap() = default;
    explicit Unmap(size_t bytes) : mapped_bytes(bytes) {}
    void operator()(std::byte* data) const;
    size_t mapped_bytes{};
  };
  std::unique_ptr<std::byte[], Unmap> data_{nullptr, Unmap()};
  int64_t byte_size_ = 0;
};

// A tensor that somebody else owns. `data` is null for an omitted optional input.
template <class Void>
struct BasicTensorView {
  TensorType type;
  Void* data = nullptr;

  template <class T>
  auto As() const {
    if constexpr (std::is_const_v<Void>) {
      return static_cast<const T*>(data);
    } else {
      return static_cast<T*>(data);
    }
  }
  const Shape& shape() const { return type.shape; }
  int64_t element_count() const { return type.shape.element_count(); }
};
using TensorView = BasicTensorView<void>;
using ConstTensorView = BasicTensorView<const void>;

}  // namespace tinyprof
