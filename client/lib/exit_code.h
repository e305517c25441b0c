// The exit codes of tinyprof-client. Scripts rely on them: contract of the command line.
#pragma once

#include "kernels/base/error.h"

namespace tinyprof::client {

enum class ExitCode : int {
  kOk = 0,
  kRunFailed = 1,
  kUsage = 2,
  kUnreachable = 3,
  kRefused = 4,
  kPrecondition = 5,
  kRegression = 6,  // `compare` found the second run to be slower
  kTimeout = 124,
  kInterrupted = 130,
};

// The code a command ends with when `error` stops it.
ExitCode ExitCodeFor(const Error& error);

// "INVALID_ARGUMENT" and the like: gRPC's spelling of a code.
const char* CodeName(ErrorCode code);

}  // namespace tinyprof::client
