// Starts a worker process: posix_spawn, never fork, because the daemon has threads.
#pragma once

#include <sys/types.h>

#include <string>

#include "daemon/worker/unique_fd.h"
#include "kernels/base/error.h"

namespace tinyprof {

struct SpawnedWorker {
  pid_t pid = -1;
  UniqueFd socket;       // ours; the worker's end is its kSocketFd
  UniqueFd stderr_pipe;  // to read what the worker writes to stderr; non-blocking
};

// `model_fd` and `output_fd` (-1: none) become the worker's kModelFd and kOutputFd; stdin and
// stdout are /dev/null, every other descriptor is closed, no signal is blocked. FAILED_PRECONDITION
// / "NO_WORKER" when the program cannot be started, RESOURCE_EXHAUSTED / "SPAWN_FAILED" when the
// system has no room for it.
Result<SpawnedWorker> SpawnWorker(const std::string& path, int model_fd, int output_fd = -1);

// The tinyprof-worker beside this program.
Result<std::string> DefaultWorkerPath();

}  // namespace tinyprof
