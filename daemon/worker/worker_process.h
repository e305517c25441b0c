// Runs each task in a tinyprof-worker process of its own.
#pragma once

#include <chrono>
#include <string>

#include "daemon/worker/task_runner.h"
#include "kernels/base/error.h"

namespace tinyprof {

struct WorkerProcessOptions {
  std::string worker_path;  // empty: the tinyprof-worker beside this program
  // Between SIGTERM and SIGKILL for a worker that is to stop, and for the exit after a result.
  std::chrono::milliseconds stop_grace{2000};
};

// See TaskRunner. Leaves neither a process nor a descriptor behind, whatever the worker does.
class WorkerProcess final : public TaskRunner {
 public:
  explicit WorkerProcess(WorkerProcessOptions options) : options_(std::move(options)) {}

  Result<worker::WorkerEvent> Run(const WorkerTask& task, const ProgressFn& on_progress,
                                  std::stop_token cancel) override;

 private:
  WorkerProcessOptions options_;
};

}  // namespace tinyprof
