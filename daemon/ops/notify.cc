#include "daemon/ops/notify.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace tinyprof {
namespace {

tl::unexpected<Error> NotifyError(const std::string& address, std::string_view why) {
  return Fail(ErrorCode::kUnavailable, "NOTIFY",
              fmt::format("cannot notify the service manager at '{}': {}", address, why));
}

}  // namespace

Status Notifier::Send(std::string_view state) const {
  if (!address_) return {};
  sockaddr_un target{};
  target.sun_family = AF_UNIX;
  const bool is_valid =
      address_->size() > 1 && (address_->front() == '/' || address_->front() == '@');
  if (!is_valid || address_->size() >= sizeof(target.sun_path)) {
    return NotifyError(*address_, "not a path or @name that fits a socket address");
  }
  std::copy(address_->begin(), address_->end(), target.sun_path);
  if (address_->front() == '@') target.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return NotifyError(*address_, std::strerror(errno));
  // An abstract name ends where the address ends: no terminating zero.
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_->size());
  const ssize_t sent = sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&target), length);
  const int error = errno;
  close(fd);
  if (sent < 0) return NotifyError(*address_, std::strerror(error));
  return {};
}

}  // namespace tinyprof
