#include "client/lib/rpc_error.h"

#include <fmt/format.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>

#include <optional>

#include "client/lib/address.h"
#include "client/lib/socket_state.h"

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

bool IsLoopback(const std::string& target) {
  const std::string host = target.substr(0, target.rfind(':'));
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

// tinyprofd serves TCP on loopback only.
Error UnreachableTcp(const std::string& target) {
  const std::string port = target.substr(target.rfind(':') + 1);
  const std::string what_to_do =
      IsLoopback(target)
          ? fmt::format("start it with `tinyprofd --listen {}`, or pass --address", target)
          : fmt::format(
                "it serves TCP to its own machine only: forward it with `ssh -L "
                "{0}:localhost:{0} {1}` and pass --address localhost:{0}",
                port, target.substr(0, target.rfind(':')));
  return {ErrorCode::kUnavailable,
          "DAEMON_UNREACHABLE",
          fmt::format("no tinyprofd answers at {}; {}", target, what_to_do),
          {{"address", target}}};
}

// Why nobody answers at `target`.
Error Unreachable(const std::string& target) {
  const std::string socket = SocketPath(target);
  return socket.empty() ? UnreachableTcp(target) : ExplainSocket(socket);
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
