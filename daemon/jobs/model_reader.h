// Reads uploaded files in a worker of its own: a file made to harm its reader harms nothing else,
// and gets no more memory than a run.
#pragma once

#include <cstdint>
#include <mutex>
#include <stop_token>

#include "daemon/worker/task_runner.h"
#include "kernels/base/error.h"
#include "tinyprof/v1/model.pb.h"

namespace tinyprof {

// Thread-safe; one file is read at a time, so that the memory of readers does not add up.
class ModelReader {
 public:
  // `runner` must outlive this, and be ready for calls beside those of the queue.
  ModelReader(TaskRunner& runner, int64_t memory_limit_bytes)
      : runner_(runner), memory_limit_bytes_(memory_limit_bytes) {}

  // Whether the file can be imported once its free dimensions are given. `fd` is open for reading
  // and stays the caller's. Errors of CheckOnnxFd and of TaskRunner; UNAVAILABLE / "DRAINING".
  Status Check(int fd);
  // What AnalyzeSpec says of the file.
  Result<v1::ModelAnalysis> Analyze(const v1::ModelSpec& spec, int fd);
  // Ends what is being read and refuses the rest.
  void Stop() { stop_.request_stop(); }

 private:
  Result<v1::ModelAnalysis> Read(const worker::AnalyzeTask& task, int fd);

  TaskRunner& runner_;
  const int64_t memory_limit_bytes_;
  std::mutex reading_;
  std::stop_source stop_;
};

}  // namespace tinyprof
