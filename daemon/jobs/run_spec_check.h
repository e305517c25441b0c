// What a RunSpec may ask for on this host.
#pragma once

#include <chrono>
#include <cstdint>

#include "kernels/base/error.h"
#include "tinyprof/v1/model.pb.h"
#include "tinyprof/v1/run.pb.h"
#include "tinyprof/v1/service.pb.h"

namespace tinyprof {

struct RunLimits {
  int max_threads = 1;  // measurement CPUs
  int64_t memory_limit_bytes = INT64_MAX;
  std::chrono::nanoseconds max_timeout = std::chrono::minutes(10);
};

// `spec` with every default written out and its timeout capped by the limits, so that equal
// requests are equal messages. INVALID_ARGUMENT / "BAD_THREADS", "BAD_PRECISION",
// "BAD_TIME_BUDGET", "BAD_TIMEOUT", "BAD_BACKEND", "BAD_CACHE_MODE", "BAD_COUNTER_MODE",
// "BAD_MODEL", "BAD_BATCH", "BAD_INPUT", "UNKNOWN_ISA"; FAILED_PRECONDITION / "ISA_NOT_AVAILABLE".
Result<v1::RunSpec> CheckRunSpec(const v1::RunSpec& spec, const RunLimits& limits);

// The same for what is verified: "BAD_THREADS", "BAD_BACKEND", "BAD_CONV_ALGORITHM", "BAD_MODEL",
// "BAD_BATCH", "BAD_INPUT", "UNKNOWN_ISA"; FAILED_PRECONDITION / "ISA_NOT_AVAILABLE".
Result<v1::VerifySpec> CheckVerifySpec(const v1::VerifySpec& spec, int max_threads);

// The same for the part that names the model.
Result<v1::ModelSpec> CheckModelSpec(const v1::ModelSpec& spec);

// RESOURCE_EXHAUSTED / "MODEL_TOO_LARGE" when parameters and activations pass the limit.
Status CheckModelSize(const v1::ModelAnalysis& analysis, int64_t memory_limit_bytes);

}  // namespace tinyprof
