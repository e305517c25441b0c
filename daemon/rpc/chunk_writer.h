// Sends bytes that come in pieces of any size as messages of 1 MiB.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "kernels/base/error.h"

namespace tinyprof {

class ChunkWriter {
 public:
  static constexpr size_t kChunkBytes = size_t{1} << 20;

  // `write` sends one chunk; false when the receiver has left.
  explicit ChunkWriter(std::function<bool(std::string&& chunk)> write) : write_(std::move(write)) {}

  // CANCELLED / "CANCELLED" when the receiver has left; so do all.
  Status Append(std::string_view bytes);
  // All of an open file from its start. DATA_LOSS / "READ_FAILED".
  Status AppendFile(int fd);
  // Sends what is left; call it last.
  Status Flush();

 private:
  std::function<bool(std::string&&)> write_;
  std::string buffer_;
};

}  // namespace tinyprof
