#include "daemon/rpc/chunk_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tinyprof {

Status ChunkWriter::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t taken = std::min(bytes.size(), kChunkBytes - buffer_.size());
    buffer_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (buffer_.size() == kChunkBytes) TINYPROF_RETURN_IF_ERROR(Flush());
  }
  return {};
}

Status ChunkWriter::AppendFile(int fd) {
  std::string block(kChunkBytes, '\0');
  for (off_t offset = 0;;) {
    const ssize_t size = pread(fd, block.data(), block.size(), offset);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      return Fail(ErrorCode::kDataLoss, "READ_FAILED",
                  fmt::format("the model's file cannot be read: {}", std::strerror(errno)));
    }
    if (size == 0) return {};
    TINYPROF_RETURN_IF_ERROR(Append(std::string_view(block.data(), static_cast<size_t>(size))));
    offset += size;
  }
}

Status ChunkWriter::Flush() {
  if (buffer_.empty() || write_(std::exchange(buffer_, {}))) return {};
  return Fail(ErrorCode::kCancelled, "CANCELLED", "the caller left");
}

}  // namespace tinyprof
