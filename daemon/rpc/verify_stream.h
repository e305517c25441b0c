// Gathers the messages of a VerifyModel call into one task, within limits.
#pragma once

#include <cstddef>

#include "kernels/base/error.h"
#include "tinyprof/v1/service.pb.h"
#include "worker.pb.h"

namespace tinyprof {

// Used by one thread: Add each message in order, then Finish.
class VerifyStream {
 public:
  // A task must fit in one frame of the worker protocol (64 MiB) with what is around the tensors.
  static constexpr size_t kMaxTensorBytes = size_t{60} << 20;
  static constexpr int kMaxTensors = 256;

  // INVALID_ARGUMENT / "BAD_STREAM" for messages out of order, RESOURCE_EXHAUSTED /
  // "TENSORS_TOO_LARGE".
  Status Add(v1::VerifyModelRequest&& message);
  // The task; INVALID_ARGUMENT / "BAD_STREAM" when there is no spec or no expected output.
  Result<worker::VerifyTask> Finish();

 private:
  Status AddTensor(const v1::TensorChunk& chunk);

  worker::VerifyTask task_;
  size_t tensor_bytes_ = 0;
};

}  // namespace tinyprof
