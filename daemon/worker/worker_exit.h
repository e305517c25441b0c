// Why a worker ended without a result, said so that a person can act on it.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/base/error.h"

namespace tinyprof {

struct WorkerExit {
  int wait_status = 0;             // as waitpid gives it
  int64_t max_resident_bytes = 0;  // the most memory it held
  int64_t memory_limit_bytes = 0;  // that the task had; 0: none
  std::string layer;               // that was running; empty: none
  std::string stderr_tail;         // the end of what it wrote
};

// RESOURCE_EXHAUSTED / "OUT_OF_MEMORY" for a SIGKILL of a worker that held at least half of its
// limit or of the machine's memory, "WORKER_KILLED" for any other SIGKILL; FAILED_PRECONDITION /
// "SECCOMP" for SIGSYS, since the worker's own filter ends nobody; INTERNAL /
// "WORKER_CRASHED" for other signals and exit codes, "WORKER_PROTOCOL" for an orderly exit without
// a result.
Error ExplainExit(const WorkerExit& exit);

}  // namespace tinyprof
