// The only place where an Error becomes a gRPC status.
//
// The code maps one to one. Details hold a google.rpc.Status with exactly one ErrorInfo: domain
// "tinyprof", the reason, and every dynamic part of the message as metadata.
#pragma once

#include <grpcpp/support/status.h>

#include "kernels/base/error.h"

namespace tinyprof {

// Texts are cut to what fits in the 8 KiB that a call's trailing metadata may take, and bytes that
// are no UTF-8 become '?'.
grpc::Status ToGrpcStatus(const Error& error);

}  // namespace tinyprof
