// Runs one task of a worker to its end. WorkerProcess does it in a process of its own; tests of the
// queue script it.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>

#include "kernels/base/error.h"
#include "tinyprof/v1/run.pb.h"
#include "worker.pb.h"

namespace tinyprof {

struct WorkerTask {
  worker::WorkerRequest request;
  int model_fd = -1;   // of an uploaded model, owned by the caller; -1: none
  int output_fd = -1;  // of the file that the task writes, owned by the caller; -1: none
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

using ProgressFn = std::function<void(const v1::Progress&)>;

class TaskRunner {
 public:
  virtual ~TaskRunner() = default;

  // Blocks until the task has ended; at most a short grace after `deadline` or after `cancel` was
  // asked for. The event holds what belongs to the task: a report, roofline, counters, verified...
  // Errors: what the worker said, or RESOURCE_EXHAUSTED / "WORKER_KILLED" or "OUT_OF_MEMORY",
  // FAILED_PRECONDITION / "SECCOMP",
  // INTERNAL / "WORKER_CRASHED" or "WORKER_PROTOCOL", DEADLINE_EXCEEDED / "TIMEOUT", CANCELLED /
  // "CANCELLED". metadata["layer"] names the layer that was running, when there was one.
  // `on_progress` is called on the thread that called Run. Calls of different threads do not wait
  // for each other.
  virtual Result<worker::WorkerEvent> Run(const WorkerTask& task, const ProgressFn& on_progress,
                                          std::stop_token cancel) = 0;
};

}  // namespace tinyprof
