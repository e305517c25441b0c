#include "kernels/quantization/calibration.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/quantization/samples.h"

namespace tinyprof {
namespace {

Status AddElements(const Value& value, const ConstTensorView& elements, int64_t sample,
                   ValueRange& range) {
  const auto* floats = elements.As<float>();
  bool is_finite = true;
  for (int64_t i = 0; i < elements.element_count(); ++i) {
    is_finite = is_finite && std::isfinite(floats[i]);
    range.Add(floats[i]);
  }
  if (is_finite) return {};
  return Fail(ErrorCode::kInvalidArgument, "NOT_FINITE",
              fmt::format("value {} is not finite on sample {} of the calibration: the model gives "
                          "NaN or infinity, and no range holds them",
                          value.name, sample),
              {{"value", value.name}, {"sample", std::to_string(sample)}});
}

Status AddSample(Session& session, const std::set<ValueId>& values, int64_t sample,
                 ValueRanges& ranges) {
  const Graph& graph = session.graph();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId id = graph.inputs[i];
    if (!values.contains(id)) continue;
    TINYPROF_RETURN_IF_ERROR(
        AddElements(graph.value(id), {.type = session.input(i).type, .data = session.input(i).data},
                    sample, ranges[id]));
  }
  for (size_t n = 0; n < session.node_count(); ++n) {
    session.RunNode(n);
    const std::vector<ValueId>& outputs = graph.nodes[n].outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!values.contains(outputs[i])) continue;
      TINYPROF_RETURN_IF_ERROR(AddElements(graph.value(outputs[i]), session.node_output(n, i),
                                           sample, ranges[outputs[i]]));
    }
  }
  return {};
}

}  // namespace

Result<ValueRanges> Calibrate(const Graph& graph, const std::set<ValueId>& values,
                              const CalibrationOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                            Session::Create(graph, options.session));
  ValueRanges ranges;
  for (int64_t sample = 0; sample < options.samples; ++sample) {
    FillSample(*session, options.seed, sample);
    TINYPROF_RETURN_IF_ERROR(AddSample(*session, values, sample, ranges));
    if (options.on_sample) options.on_sample(sample + 1);
  }
  return ranges;
}

}  // namespace tinyprof
