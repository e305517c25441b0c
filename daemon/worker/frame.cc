#include "daemon/worker/frame.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "kernels/base/words.h"

namespace tinyprof {
namespace {

constexpr size_t kHeaderBytes = 4;

std::array<char, kHeaderBytes> EncodeLength(size_t length) {
  std::array<char, kHeaderBytes> header{};
  for (size_t i = 0; i < kHeaderBytes; ++i)
    header[i] = static_cast<char>((length >> (8 * i)) & 0xff);
  return header;
}

size_t DecodeLength(const char* header) {
  size_t length = 0;
  for (size_t i = 0; i < kHeaderBytes; ++i) {
    length |= size_t{static_cast<unsigned char>(header[i])} << (8 * i);
  }
  return length;
}

tl::unexpected<Error> PeerGone() {
  return Fail(ErrorCode::kUnavailable, "PEER_GONE", "the other side of the socket has closed it");
}

Status WaitFor(int socket_fd, short events, SteadyTime deadline) {
  while (true) {
    pollfd waiting{.fd = socket_fd, .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, PollTimeoutMs(deadline));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return PeerGone();
    if (std::chrono::steady_clock::now() >= deadline) {
      return Fail(ErrorCode::kDeadlineExceeded, "TIMEOUT",
                  "the other side of the socket is silent");
    }
  }
}

bool MustWait(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

Status SendBytes(int socket_fd, std::string_view bytes, SteadyTime deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (MustWait(errno)) {
      TINYPROF_RETURN_IF_ERROR(WaitFor(socket_fd, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return PeerGone();
    }
  }
  return {};
}

}  // namespace

int PollTimeoutMs(SteadyTime deadline) {
  if (deadline == SteadyTime::max()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  // A day is far beyond any deadline of ours and fits in an int.
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 86'400'000));
}

Status SendFrame(int socket_fd, const google::protobuf::MessageLite& message, SteadyTime deadline) {
  const size_t length = message.ByteSizeLong();
  if (length > kMaxFrameBytes) {
    return Fail(
        ErrorCode::kResourceExhausted, "FRAME_TOO_LARGE",
        fmt::format("a message of {} passes the limit of {} between daemon and worker: use a "
                    "model with fewer layers or smaller tensors",
                    SizeText(static_cast<int64_t>(length)), SizeText(kMaxFrameBytes)),
        {{"bytes", std::to_string(length)}, {"limit", std::to_string(kMaxFrameBytes)}});
  }
  const auto header = EncodeLength(length);
  std::string frame(header.data(), header.size());
  message.AppendToString(&frame);
  return SendBytes(socket_fd, frame, deadline);
}

Status ReceiveFrame(int socket_fd, google::protobuf::MessageLite& message, SteadyTime deadline) {
  FrameDecoder decoder;
  // Reading no further than the frame's end leaves the next frame in the socket.
  size_t wanted = kHeaderBytes;
  std::array<char, 65536> chunk;
  while (true) {
    const size_t piece = std::min(wanted, chunk.size());
    const ssize_t got = ::recv(socket_fd, chunk.data(), piece, MSG_DONTWAIT);
    if (got == 0) return PeerGone();
    if (got < 0) {
      if (errno == EINTR) continue;
      if (!MustWait(errno)) return PeerGone();
      TINYPROF_RETURN_IF_ERROR(WaitFor(socket_fd, POLLIN, deadline));
      continue;
    }
    decoder.Append({chunk.data(), static_cast<size_t>(got)});
    wanted -= static_cast<size_t>(got);
    if (wanted > 0) continue;
    TINYPROF_ASSIGN_OR_RETURN(const bool whole, decoder.Next(message));
    if (whole) return {};
    wanted = decoder.missing_byte_count();
  }
}

size_t FrameDecoder::missing_byte_count() const {
  const size_t have = pending_byte_count();
  if (have < kHeaderBytes) return kHeaderBytes - have;
  return kHeaderBytes + DecodeLength(buffer_.data() + begin_) - have;
}

Result<bool> FrameDecoder::Next(google::protobuf::MessageLite& message) {
  if (pending_byte_count() < kHeaderBytes) return false;
  const size_t length = DecodeLength(buffer_.data() + begin_);
  if (length > kMaxFrameBytes) {
    return Fail(ErrorCode::kDataLoss, "BAD_FRAME",
                fmt::format("a frame claims {} and at most {} are allowed",
                            SizeText(static_cast<int64_t>(length)), SizeText(kMaxFrameBytes)));
  }
  if (pending_byte_count() < kHeaderBytes + length) return false;
  const char* body = buffer_.data() + begin_ + kHeaderBytes;
  if (!message.ParseFromArray(body, static_cast<int>(length))) {
    return Fail(ErrorCode::kDataLoss, "BAD_FRAME",
                fmt::format("a frame of {} is no {}", SizeText(static_cast<int64_t>(length)),
                            message.GetTypeName()));
  }
  begin_ += kHeaderBytes + length;
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  }
  return true;
}

}  // namespace tinyprof
