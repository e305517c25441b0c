// The checks of `doctor`: of the machine as it is now, whatever of the daemon is broken.
#pragma once

#include <cstdint>
#include <mutex>
#include <stop_token>
#include <vector>

#include "daemon/jobs/daemon_checks.h"
#include "daemon/store/store.h"
#include "daemon/worker/task_runner.h"
#include "tinyprof/v1/host.pb.h"

namespace tinyprof {

// Beside the queue: it waits for no run, and keeps off the measurement CPUs. Thread-safe; one
// diagnosis at a time.
class HostDiagnosis {
 public:
  // `runner` and `store` must outlive it.
  HostDiagnosis(TaskRunner& runner, Store& store, std::vector<int> measurement_cpus,
                int64_t memory_limit_bytes)
      : runner_(runner),
        store_(store),
        measurement_cpus_(std::move(measurement_cpus)),
        memory_limit_bytes_(memory_limit_bytes) {}

  // Events are tried in a worker, since some systems end who tries. Where that fails, the failure
  // is a check among those that need no worker. The gravest first.
  std::vector<v1::Check> Run(const LastCalibration& last);
  // Ends what goes on, for a daemon that is to end; from then on no worker is started.
  void Stop() { stop_.request_stop(); }

 private:
  Result<worker::DiagnosisResult> AskWorker();

  TaskRunner& runner_;
  Store& store_;
  const std::vector<int> measurement_cpus_;
  const int64_t memory_limit_bytes_;
  std::mutex running_;
  std::stop_source stop_;
};

}  // namespace tinyprof
