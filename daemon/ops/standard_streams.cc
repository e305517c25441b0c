#include "daemon/ops/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tinyprof {
namespace {

// Whether all was written; errno says why not.
bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

void OpenStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest number that is free is this one, since those below it are open.
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) open("/dev/null", O_RDONLY);
  }
}

Status WriteToStdout(std::string_view text) {
  if (WriteAll(STDOUT_FILENO, text)) return {};
  return Fail(ErrorCode::kUnavailable, "NOT_WRITTEN",
              fmt::format("cannot write standard output: {}", std::strerror(errno)));
}

void WriteToStderr(std::string_view text) {
  [[maybe_unused]] const bool written = WriteAll(STDERR_FILENO, text);
}

}  // namespace tinyprof
