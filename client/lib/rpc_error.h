// From a gRPC status to an Error a person can act on: the daemon's own sentence with the reason of
// its google.rpc.ErrorInfo, or our own sentence where the transport failed.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "kernels/base/error.h"

namespace tinyprof::client {

// `status` is not OK. `target` is the address as gRPC takes it.
Error FromRpcStatus(const grpc::Status& status, const std::string& target);

// The error when the daemon vanished while `run_id` was watched.
Error DaemonWentAway(const std::string& run_id, const std::string& target);

}  // namespace tinyprof::client
