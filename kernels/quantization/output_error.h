// How far the outputs of a quantized network are from those of the float32 one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/quantization/samples.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

// Over all elements of one output in all samples, of y (float32) and e = quantized - y.
struct OutputError {
  std::string name;
  double max_abs_error = 0;
  // sqrt(sum e^2 / sum y^2); absent when y is 0 everywhere.
  std::optional<double> relative_rms_error;
  // 10 log10(sum y^2 / sum e^2), in dB; absent when y or e is 0 everywhere.
  std::optional<double> sqnr_db;
  // Of an output [N, classes] with at least two classes: the share of rows whose largest element is
  // at the same place, 0 to 1.
  std::optional<double> top1_agreement;
  std::optional<int64_t> top1_row_count;  // of all samples together; absent when the share is
};

// What the network gives on samples [first, first + count) of `seed`: the float32 outputs, each
// sample's behind the other's. Other outputs are left empty. INVALID_ARGUMENT / "NOT_FINITE" names
// an output that holds a NaN or an infinity; the errors of Session::Create.
struct SampledOutputs {
  std::vector<std::vector<float>> by_output;
};
Result<SampledOutputs> RunSamples(const Graph& graph, const SessionOptions& options, uint64_t seed,
                                  int64_t first, int64_t count, const SampleFn& on_sample = {});

// Of the float32 outputs of `graph`. Both have the outputs of `graph` and the same samples.
std::vector<OutputError> CompareOutputs(const Graph& graph, const SampledOutputs& exact,
                                        const SampledOutputs& quantized);

}  // namespace tinyprof
