// One thing in the queue: a run or an exclusive task. Guarded by the queue's mutex, except
// `cancel`, which is thread-safe, and what is const after it was queued.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "daemon/worker/unique_fd.h"
#include "kernels/base/error.h"
#include "tinyprof/v1/run.pb.h"
#include "worker.pb.h"

namespace tinyprof {

struct Job {
  bool is_run() const { return !run.id().empty(); }

  // Const after it was queued, until it has ended.
  worker::WorkerRequest request;
  UniqueFd model_file;
  UniqueFd output_file;  // that the task writes; none for most

  v1::Run run;           // of a run: as it stands, with its report only while `unstored`; of an
                         // exclusive task the progress alone
  uint64_t version = 1;  // grows with every change of `run`
  std::stop_source cancel;
  std::optional<Error> cancel_reason;                  // said in place of CANCELLED
  std::optional<Error> unstored;                       // why the store has not taken its end
  std::optional<Result<worker::WorkerEvent>> outcome;  // of an exclusive task, once it has ended
};

}  // namespace tinyprof
