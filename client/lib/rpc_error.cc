#include "client/lib/rpc_error.h"

#include <errno.h>
#include <fmt/format.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "client/lib/address.h"

namespace tinyprof::client {
namespace {

ErrorCode CodeOf(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      return ErrorCode::kInvalidArgument;
    case grpc::StatusCode::NOT_FOUND:
      return ErrorCode::kNotFound;
    case grpc::StatusCode::ALREADY_EXISTS:
      return ErrorCode::kAlreadyExists;
    case grpc::StatusCode::PERMISSION_DENIED:
      return ErrorCode::kPermissionDenied;
    case grpc::StatusCode::UNAUTHENTICATED:
      return ErrorCode::kUnauthenticated;
    case grpc::StatusCode::FAILED_PRECONDITION:
      return ErrorCode::kFailedPrecondition;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return ErrorCode::kResourceExhausted;
    case grpc::StatusCode::OUT_OF_RANGE:
      return ErrorCode::kOutOfRange;
    case grpc::StatusCode::UNIMPLEMENTED:
      return ErrorCode::kUnimplemented;
    case grpc::StatusCode::UNAVAILABLE:
      return ErrorCode::kUnavailable;
    case grpc::StatusCode::ABORTED:
      return ErrorCode::kAborted;
    case grpc::StatusCode::CANCELLED:
      return ErrorCode::kCancelled;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return ErrorCode::kDeadlineExceeded;
    case grpc::StatusCode::DATA_LOSS:
      return ErrorCode::kDataLoss;
    default:
      return ErrorCode::kInternal;
  }
}

std::optional<google::rpc::ErrorInfo> ErrorInfoOf(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return std::nullopt;
  for (const auto& any : details.details()) {
    google::rpc::ErrorInfo info;
    if (any.UnpackTo(&info)) return info;
  }
  return std::nullopt;
}

// "/run/tinyprof" of "/run/tinyprof/tinyprofd.sock".
std::string DirectoryOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Whether somebody holds `socket` open for connections, answering or not.
bool IsListenedOn(const std::string& socket) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (socket.size() >= sizeof(address.sun_path)) return false;
  socket.copy(address.sun_path, socket.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return false;
  const int result =
      connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  // A queue of connections that is full is one that nobody takes from.
  const bool is_listened_on = result == 0 || errno == EAGAIN;
  close(descriptor);
  return is_listened_on;
}

// Why nobody answers at `target`, told from what the file system shows.
Error Unreachable(const std::string& target) {
  const std::string socket = SocketPath(target);
  if (!socket.empty() && access(socket.c_str(), W_OK) != 0 && errno == EACCES) {
    return {
        ErrorCode::kPermissionDenied,
        "SOCKET_DENIED",
        fmt::format("you may not open {}; join the group that owns {} (mostly `sudo usermod -aG "
                    "tinyprof $USER`, then log in again)",
                    target, DirectoryOf(socket)),
        {{"address", target}}};
  }
  if (socket.empty()) {
    return {ErrorCode::kUnavailable,
            "DAEMON_UNREACHABLE",
            fmt::format(
                "no tinyprofd answers at {}; start it there with `tinyprofd --listen HOST:PORT` "
                "or pass --address",
                target),
            {{"address", target}}};
  }
  if (IsListenedOn(socket)) {
    return {ErrorCode::kUnavailable,
            "DAEMON_SILENT",
            fmt::format("tinyprofd at {} takes connections but does not answer; it may be stopped "
                        "(`kill -CONT` its process) or the machine overloaded",
                        target),
            {{"address", target}}};
  }
  return {ErrorCode::kUnavailable,
          "DAEMON_NOT_RUNNING",
          fmt::format("tinyprofd is not running at {}; start it with `tinyprofd` or pass --address",
                      target),
          {{"address", target}}};
}

}  // namespace

Error FromRpcStatus(const grpc::Status& status, const std::string& target) {
  Error error{CodeOf(status.error_code()), "", status.error_message(), {}};
  if (const auto info = ErrorInfoOf(status)) {
    error.reason = info->reason();
    error.metadata.insert(info->metadata().begin(), info->metadata().end());
    if (error.message.empty()) error.message = fmt::format("tinyprofd refused: {}", error.reason);
    return error;
  }
  switch (error.code) {
    case ErrorCode::kUnavailable:
      return Unreachable(target);
    case ErrorCode::kDeadlineExceeded:
      return {
          error.code,
          "NO_ANSWER",
          fmt::format("tinyprofd at {} did not answer in time; see `tinyprof-client health`, or "
                      "pass a longer --timeout",
                      target),
          {{"address", target}}};
    case ErrorCode::kUnimplemented:
      return {
          error.code,
          "OTHER_VERSION",
          fmt::format("the server at {} does not know this call; `tinyprof-client version` shows "
                      "whether client and daemon differ",
                      target),
          {{"address", target}}};
    case ErrorCode::kCancelled:
      return {ErrorCode::kUnavailable,
              "DAEMON_STOPPING",
              fmt::format("tinyprofd at {} is shutting down; try again once it is back", target),
              {{"address", target}}};
    default:
      break;
  }
  error.reason = "NO_DETAILS";
  if (error.message.empty()) {
    error.message = fmt::format("tinyprofd at {} failed without saying why; see its log", target);
  }
  return error;
}

Error DaemonWentAway(const std::string& run_id, const std::string& target) {
  return {
      ErrorCode::kUnavailable,
      "DAEMON_WENT_AWAY",
      fmt::format("tinyprofd went away; the run {0} is kept by the daemon: `tinyprof-client show "
                  "{0}` once it is back at {1}",
                  run_id, target),
      {{"run_id", run_id}, {"address", target}}};
}

}  // namespace tinyprof::client
