// Frames of the worker protocol: a 4-byte little-endian length and that many bytes of one protobuf
// message, over a stream socket. Interrupted calls and short transfers are taken care of.
#pragma once

#include <google/protobuf/message_lite.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/base/error.h"

namespace tinyprof {

inline constexpr size_t kMaxFrameBytes = size_t{64} << 20;

using SteadyTime = std::chrono::steady_clock::time_point;

// Sends one frame. RESOURCE_EXHAUSTED / "FRAME_TOO_LARGE", DEADLINE_EXCEEDED / "TIMEOUT",
// UNAVAILABLE / "PEER_GONE" when the other side has closed.
Status SendFrame(int socket_fd, const google::protobuf::MessageLite& message, SteadyTime deadline);

// Waits for one frame. The errors of SendFrame, and DATA_LOSS / "BAD_FRAME" for a length above
// kMaxFrameBytes or bytes that are not the message.
Status ReceiveFrame(int socket_fd, google::protobuf::MessageLite& message, SteadyTime deadline);

// Takes frames apart that come in pieces.
class FrameDecoder {
 public:
  void Append(std::string_view bytes) { buffer_.append(bytes); }
  // Parses the next whole frame into `message`: false when more bytes are needed. DATA_LOSS /
  // "BAD_FRAME" as above; after that the stream is of no use.
  Result<bool> Next(google::protobuf::MessageLite& message);
  // Bytes of a frame that is not whole yet.
  size_t pending_byte_count() const { return buffer_.size() - begin_; }
  // Bytes that the next frame lacks, as far as its header tells; 0 when it is whole.
  size_t missing_byte_count() const;

 private:
  std::string buffer_;
  size_t begin_ = 0;  // of the first byte that was not taken
};

// Milliseconds for poll() until `deadline`: -1 when there is none, 0 when it has passed.
int PollTimeoutMs(SteadyTime deadline);

}  // namespace tinyprof
