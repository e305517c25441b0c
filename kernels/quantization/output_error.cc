#include "kernels/quantization/output_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "kernels/quantization/samples.h"

namespace tinyprof {
namespace {

double Top1Agreement(std::span<const float> exact, std::span<const float> got, size_t classes) {
  size_t agreed = 0;
  const size_t rows = exact.size() / classes;
  for (size_t row = 0; row < rows; ++row) {
    const auto largest = [&](std::span<const float> all) {
      const std::span<const float> scores = all.subspan(row * classes, classes);
      return std::max_element(scores.begin(), scores.end()) - scores.begin();
    };
    if (largest(exact) == largest(got)) ++agreed;
  }
  return static_cast<double>(agreed) / static_cast<double>(rows);
}

OutputError ErrorOf(const Value& output, const std::vector<float>& exact,
                    const std::vector<float>& got) {
  OutputError error{.name = output.name};
  double signal = 0;
  double noise = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double difference = double{got[i]} - double{exact[i]};
    error.max_abs_error = std::max(error.max_abs_error, std::fabs(difference));
    signal += double{exact[i]} * double{exact[i]};
    noise += difference * difference;
  }
  if (signal > 0) error.relative_rms_error = std::sqrt(noise / signal);
  constexpr double kDecibels = 10;
  if (signal > 0 && noise > 0) error.sqnr_db = kDecibels * std::log10(signal / noise);
  const Shape& shape = output.type.shape;
  if (shape.rank() == 2 && shape[0] > 0 && shape[1] > 1) {
    error.top1_agreement = Top1Agreement(exact, got, static_cast<size_t>(shape[1]));
    error.top1_row_count = std::ssize(exact) / shape[1];
  }
  return error;
}

tl::unexpected<Error> NotFinite(const std::string& output, int64_t sample) {
  return Fail(ErrorCode::kInvalidArgument, "NOT_FINITE",
              fmt::format("output {} is not finite on sample {}: the model gives NaN or infinity, "
                          "and no error can be told of them",
                          output, sample),
              {{"value", output}, {"sample", std::to_string(sample)}});
}

}  // namespace

Result<SampledOutputs> RunSamples(const Graph& graph, const SessionOptions& options, uint64_t seed,
                                  int64_t first, int64_t count, const SampleFn& on_sample) {
  TINYPROF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                            Session::Create(graph, options));
  SampledOutputs sampled;
  sampled.by_output.resize(graph.outputs.size());
  for (int64_t sample = first; sample < first + count; ++sample) {
    FillSample(*session, seed, sample);
    session->RunAll();
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const ConstTensorView output = session->output(i);
      if (output.type.dtype != DType::kFloat32) continue;
      const auto* floats = output.As<float>();
      const bool is_finite = std::all_of(floats, floats + output.element_count(),
                                         [](float x) { return std::isfinite(x); });
      if (!is_finite) return NotFinite(graph.value(graph.outputs[i]).name, sample);
      sampled.by_output[i].insert(sampled.by_output[i].end(), floats,
                                  floats + output.element_count());
    }
    if (on_sample) on_sample(sample - first + 1);
  }
  return sampled;
}

std::vector<OutputError> CompareOutputs(const Graph& graph, const SampledOutputs& exact,
                                        const SampledOutputs& quantized) {
  std::vector<OutputError> errors;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value& output = graph.value(graph.outputs[i]);
    if (output.type.dtype != DType::kFloat32) continue;
    errors.push_back(ErrorOf(output, exact.by_output[i], quantized.by_output[i]));
  }
  return errors;
}

}  // namespace tinyprof
