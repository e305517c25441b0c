#include "client/lib/socket_state.h"

#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "client/lib/address.h"

namespace tinyprof::client {
namespace {

namespace fs = std::filesystem;

// A forwarder that cannot open the far end says so within a round trip.
constexpr int kCloseTimeoutMs = 1000;

Error Unavailable(const std::string& reason, const std::string& path, std::string message) {
  return {ErrorCode::kUnavailable, reason, std::move(message), {{"address", "unix:" + path}}};
}

std::string UserName(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  const int failed = getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  return failed == 0 && found != nullptr ? found->pw_name : fmt::format("user {}", uid);
}

std::string GroupName(gid_t gid) {
  group entry{};
  group* found = nullptr;
  std::array<char, 4096> buffer{};
  const int failed = getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found);
  return failed == 0 && found != nullptr ? found->gr_name : fmt::format("{}", gid);
}

// The outermost directory above `path` that may not be entered, else `path` itself.
fs::path BlockedAt(const fs::path& path) {
  fs::path walked;
  for (const fs::path& part : path.parent_path()) {
    walked /= part;
    if (access(walked.c_str(), X_OK) != 0 && errno == EACCES) return walked;
  }
  return path;
}

Error Denied(const std::string& path) {
  const fs::path blocked = BlockedAt(path);
  struct stat status {};
  std::string owner = "whoever runs tinyprofd";
  std::string whose = "is not open to you";
  if (stat(blocked.c_str(), &status) == 0) {
    owner = UserName(status.st_uid);
    const mode_t wanted = S_ISDIR(status.st_mode) ? S_IXGRP : S_IWGRP;
    whose = (status.st_mode & wanted) != 0
                ? fmt::format("is for {} and the group {} alone", owner, GroupName(status.st_gid))
                : fmt::format("is for {} alone", owner);
  }
  return {ErrorCode::kPermissionDenied,
          "SOCKET_DENIED",
          fmt::format("you may not open unix:{}: {} {}; {} can let everybody on that machine in "
                      "with `tinyprofd --socket-mode 0666 --listen unix:/tmp/tinyprofd.sock`",
                      path, blocked.string(), whose, owner),
          {{"address", "unix:" + path}, {"path", blocked.string()}, {"owner", owner}}};
}

// The command that makes a daemon listen at `path`.
std::string StartCommand(const std::string& path) {
  return path == SocketPath(std::string(kSystemAddress))
             ? "tinyprofd"
             : fmt::format("tinyprofd --listen unix:{}", path);
}

Error NothingThere(const std::string& path) {
  const fs::path directory = fs::path(path).parent_path();
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) {
    return Unavailable(
        "NO_DIRECTORY", path,
        fmt::format("tinyprofd is not running at unix:{}: there is no directory {}; start it with "
                    "`{}`, or pass with --address the one it prints when it is ready",
                    path, directory.string(), StartCommand(path)));
  }
  return Unavailable("DAEMON_NOT_RUNNING", path,
                     fmt::format("tinyprofd is not running at unix:{}; start it with `{}` or pass "
                                 "--address",
                                 path, StartCommand(path)));
}

// Whether the other end closes the connection without a word; a daemon speaks first.
bool ClosesAtOnce(int descriptor) {
  pollfd waited{.fd = descriptor, .events = POLLIN, .revents = 0};
  if (poll(&waited, 1, kCloseTimeoutMs) != 1) return false;
  char byte = 0;
  return recv(descriptor, &byte, 1, MSG_DONTWAIT) <= 0;
}

Error ExplainConnection(const std::string& path, int descriptor, int connect_errno) {
  if (connect_errno == EACCES || connect_errno == EPERM) return Denied(path);
  if (connect_errno == ECONNREFUSED) {
    return Unavailable("DAEMON_NOT_RUNNING", path,
                       fmt::format("tinyprofd is not running at unix:{}: the socket was left "
                                   "behind and nobody listens; start it with `{}`, or the "
                                   "forwarding with `ssh -L` anew",
                                   path, StartCommand(path)));
  }
  if (connect_errno == 0 && ClosesAtOnce(descriptor)) {
    return Unavailable(
        "CONNECTION_CLOSED", path,
        fmt::format("connections to unix:{} are closed at once, as `ssh -L` does when it cannot "
                    "open the far end: check that tinyprofd runs there, that the far path is the "
                    "one it printed when it was ready, and that your user there may open it",
                    path));
  }
  return Unavailable(
      "DAEMON_SILENT", path,
      fmt::format("tinyprofd at unix:{} takes connections but does not answer; it may be stopped "
                  "(`kill -CONT` its process) or the machine overloaded",
                  path));
}

Error TryConnection(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) {
    return Unavailable(
        "NO_SOCKET", path,
        fmt::format("no connection to unix:{} can be tried: {}", path, std::strerror(errno)));
  }
  const auto* target = reinterpret_cast<const sockaddr*>(&address);
  const int failed = connect(descriptor, target, sizeof(address)) == 0 ? 0 : errno;
  Error error = ExplainConnection(path, descriptor, failed);
  close(descriptor);
  return error;
}

}  // namespace

Error ExplainSocket(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return errno == EACCES ? Denied(path) : NothingThere(path);
  }
  if (!S_ISSOCK(status.st_mode)) {
    return Unavailable("NOT_A_SOCKET", path,
                       fmt::format("{} is a {} and no socket; pass with --address the one that "
                                   "tinyprofd prints when it is ready",
                                   path, S_ISDIR(status.st_mode) ? "directory" : "file"));
  }
  Error error = TryConnection(path);
  if (error.reason != "CONNECTION_CLOSED") return error;
  // A daemon that ends closes what it has not taken yet; after that nobody listens.
  Error again = TryConnection(path);
  return again.reason == "DAEMON_NOT_RUNNING" ? again : error;
}

}  // namespace tinyprof::client
