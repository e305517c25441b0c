#include "daemon/rpc/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tinyprof {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr size_t kMaxPathBytes = sizeof(sockaddr_un::sun_path) - 1;

bool IsLoopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr ipv4{};
  return inet_pton(AF_INET, host.c_str(), &ipv4) == 1 && ntohl(ipv4.s_addr) >> 24 == 127;
}

bool IsPort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size();
}

Status CheckTcpAddress(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == address.npos || colon == 0 || !IsPort(address.substr(colon + 1))) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_ADDRESS",
                fmt::format("got address '{}', wanted unix:/path or localhost:PORT", address),
                {{"address", std::string(address)}});
  }
  if (IsLoopback(std::string(address.substr(0, colon)))) return {};
  return Fail(ErrorCode::kInvalidArgument, "NOT_LOOPBACK",
              fmt::format("refusing to serve at '{0}': TCP has no authentication here, so only "
                          "loopback addresses are allowed, such as localhost:{1}; another machine "
                          "reaches that with `ssh -L {1}:localhost:{1} HOST`",
                          address, address.substr(colon + 1)),
              {{"address", std::string(address)}});
}

bool HasIpv6Loopback() {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const auto* target = reinterpret_cast<const sockaddr*>(&address);
  const bool bound = bind(fd, target, sizeof(address)) == 0;
  close(fd);
  return bound;
}

// 0 when somebody accepts connections at the path, else an errno.
int Probe(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  const auto* target = reinterpret_cast<const sockaddr*>(&address);
  const int error = connect(fd, target, sizeof(address)) == 0 ? 0 : errno;
  close(fd);
  return error;
}

Status MakeDirectoryOf(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path directory = fs::path(path).parent_path();
  std::error_code error;
  const bool made = fs::create_directories(directory, error);
  if (made) fs::permissions(directory, static_cast<fs::perms>(0750), error);
  if (!error) return {};
  return Fail(ErrorCode::kFailedPrecondition, "SOCKET_DIRECTORY",
              fmt::format("cannot make the directory {}: {}", directory.string(), error.message()),
              {{"directory", directory.string()}});
}

}  // namespace

std::string UnixPathOf(std::string_view address) {
  return address.starts_with(kUnixPrefix) ? std::string(address.substr(kUnixPrefix.size())) : "";
}

std::string ClosedDirectoryOf(const std::string& path) {
  namespace fs = std::filesystem;
  for (fs::path directory = fs::path(path).parent_path(); directory.has_relative_path();
       directory = directory.parent_path()) {
    std::error_code error;
    const fs::perms permissions = fs::status(directory, error).permissions();
    if (!error && (permissions & fs::perms::others_exec) == fs::perms::none) return directory;
  }
  return "";
}

Status CheckAddress(std::string_view address) {
  if (!address.starts_with(kUnixPrefix)) return CheckTcpAddress(address);
  const std::string path = UnixPathOf(address);
  if (!path.starts_with('/')) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_ADDRESS",
                fmt::format("got address '{}', wanted an absolute path after unix:", address),
                {{"address", std::string(address)}});
  }
  if (path.size() <= kMaxPathBytes) return {};
  return Fail(ErrorCode::kInvalidArgument, "PATH_TOO_LONG",
              fmt::format("the socket path {} has {} bytes, wanted at most {}", path, path.size(),
                          kMaxPathBytes),
              {{"path", path}});
}

std::vector<std::string> BindAddressesOf(const std::string& address) {
  constexpr std::string_view kLocalhost = "localhost:";
  if (!address.starts_with(kLocalhost)) return {address};
  const std::string port = address.substr(kLocalhost.size());
  // Of port 0, the kernel would choose two.
  if (port.find_first_not_of('0') == port.npos || !HasIpv6Loopback()) return {address};
  return {"127.0.0.1:" + port, "[::1]:" + port};
}

Status PrepareUnixPath(const std::string& path) {
  TINYPROF_RETURN_IF_ERROR(MakeDirectoryOf(path));
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) {
    return Fail(ErrorCode::kFailedPrecondition, "NOT_A_SOCKET",
                fmt::format("{} exists and is no socket; remove it or listen elsewhere", path),
                {{"path", path}});
  }
  // Only a refused connection proves that nobody listens: gRPC would take over a live socket.
  if (Probe(path) != ECONNREFUSED) {
    return Fail(ErrorCode::kFailedPrecondition, "ADDRESS_IN_USE",
                fmt::format("another process serves at {}; stop it or listen elsewhere", path),
                {{"path", path}});
  }
  unlink(path.c_str());
  return {};
}

}  // namespace tinyprof
