// What both sides of the worker protocol must agree on beside worker.proto.
#pragma once

#include "kernels/base/error.h"
#include "worker.pb.h"

namespace tinyprof {

inline constexpr int kSocketFd = 3;  // the worker's end of the socketpair
inline constexpr int kModelFd = 4;   // the uploaded model, open for reading
inline constexpr int kOutputFd = 5;  // the file that a task writes, open for writing

worker::WorkerError ToProto(const Error& error);
// A code that ErrorCode does not have becomes kInternal.
Error FromProto(const worker::WorkerError& error);

}  // namespace tinyprof
