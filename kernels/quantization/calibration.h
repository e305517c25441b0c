// The ranges that activations have over seeded inputs.
#pragma once

#include <cstdint>
#include <set>

#include "kernels/base/error.h"
#include "kernels/quantization/samples.h"
#include "kernels/quantization/static_quantization.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

struct CalibrationOptions {
  SessionOptions session;
  uint64_t seed = 1;
  int64_t samples = 16;  // sample 0 to samples - 1 (samples.h)
  SampleFn on_sample = {};
};

// The least and the largest element of each of `values` (float32 inputs and activations of `graph`)
// over all samples. INVALID_ARGUMENT / "NOT_FINITE" names the first value that holds a NaN or an
// infinity; the errors of Session::Create. Used by the master of the team.
Result<ValueRanges> Calibrate(const Graph& graph, const std::set<ValueId>& values,
                              const CalibrationOptions& options);

}  // namespace tinyprof
