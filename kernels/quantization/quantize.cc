#include "kernels/quantization/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/base/words.h"
#include "kernels/quantization/calibration.h"
#include "kernels/quantization/dynamic_quantization.h"
#include "kernels/quantization/graph_edit.h"
#include "kernels/quantization/prepare.h"
#include "kernels/quantization/static_quantization.h"

namespace tinyprof {
namespace {

int64_t WeightBytesOf(const Graph& graph) {
  int64_t bytes = 0;
  for (const Value& value : graph.values) {
    if (value.kind == Value::Kind::kInitializer) bytes += value.type.byte_size();
  }
  return bytes;
}

QuantizedOperator& OperatorOf(QuantizedModel& model, const std::string& op_type) {
  const auto found = std::find_if(
      model.operators.begin(), model.operators.end(),
      [&](const QuantizedOperator& candidate) { return candidate.op_type == op_type; });
  if (found != model.operators.end()) return *found;
  return model.operators.emplace_back(QuantizedOperator{.op_type = op_type});
}

// Decides on each node of `prepared` and notes it in `model` by the operator that the node has in
// `given`.
std::vector<bool> Decide(const Graph& given, const Graph& prepared, QuantizedModel& model) {
  std::map<std::string, std::string> given_types;
  for (const Node& node : given.nodes) given_types[node.name] = node.op_type;
  std::vector<bool> quantized;
  for (const Node& node : prepared.nodes) {
    quantized.push_back(false);
    if (!IsCandidate(node)) continue;
    const std::string reason = WhyNotQuantizable(prepared, node);
    const auto type = given_types.find(node.name);
    QuantizedOperator& counts =
        OperatorOf(model, type == given_types.end() ? node.op_type : type->second);
    if (reason.empty()) {
      quantized.back() = true;
      ++counts.quantized;
    } else {
      model.left.push_back({node.name, counts.op_type, reason});
      ++counts.left;
    }
  }
  return quantized;
}

tl::unexpected<Error> NothingToQuantize(const Graph& graph, const QuantizedModel& model) {
  const std::string why =
      model.left.empty() ? "it has no convolution and no matrix product"
                         : fmt::format("of its {} with weights, {} stays float32 because {}{}",
                                       Counted(static_cast<int64_t>(model.left.size()), "node"),
                                       model.left[0].name, model.left[0].reason,
                                       model.left.size() > 1 ? ", and so on" : "");
  return Fail(ErrorCode::kFailedPrecondition, "NOTHING_TO_QUANTIZE",
              fmt::format("{} has nothing that can be quantized: {}", graph.name, why),
              {{"model", graph.name}});
}

tl::unexpected<Error> AlreadyQuantized(const Graph& graph) {
  const QuantizationFacts& facts = *graph.quantized;
  return Fail(ErrorCode::kFailedPrecondition, "ALREADY_QUANTIZED",
              fmt::format("{} is quantized already, from {}: quantize {} instead", graph.name,
                          facts.from, facts.from),
              {{"model", graph.name}, {"quantized_from", facts.from}});
}

void Tell(const QuantizeOptions& options, std::string_view phase, int64_t done, int64_t total) {
  if (options.on_progress) options.on_progress(phase, done, total);
}

// What `graph` gives on the held-out samples; of two networks these are done one after the other,
// `before` when this begins.
Result<SampledOutputs> HeldOut(const Graph& graph, const QuantizeOptions& options, int64_t before) {
  return RunSamples(
      graph, options.session, options.seed, options.samples, options.held_out,
      [&](int64_t done) { Tell(options, "comparing", before + done, 2 * options.held_out); });
}

Result<Graph> Rewrite(const Graph& prepared, const std::vector<bool>& quantized,
                      const QuantizeOptions& options) {
  if (options.mode == QuantizationMode::kDynamic) return QuantizeDynamic(prepared, quantized);
  TINYPROF_ASSIGN_OR_RETURN(const ValueRanges ranges,
                            Calibrate(prepared, ValuesToCalibrate(prepared, quantized),
                                      {.session = options.session,
                                       .seed = options.seed,
                                       .samples = options.samples,
                                       .on_sample = [&](int64_t done) {
                                         Tell(options, "calibrating", done, options.samples);
                                       }}));
  return QuantizeStatic(prepared, quantized, ranges);
}

}  // namespace

Result<QuantizedModel> QuantizeModel(const Graph& graph, const QuantizeOptions& options) {
  if (graph.quantized) return AlreadyQuantized(graph);
  QuantizedModel model;
  model.float_weight_bytes = WeightBytesOf(graph);
  const PreparedGraph prepared = PrepareForQuantization(graph);
  const std::vector<bool> quantized = Decide(graph, prepared.graph, model);
  model.folded_batch_norms = prepared.folded_batch_norms;
  int64_t counted = prepared.folded_batch_norms;
  int64_t quantized_count = 0;
  for (const QuantizedOperator& counts : model.operators) {
    counted += counts.quantized + counts.left;
    quantized_count += counts.quantized;
  }
  if (quantized_count == 0) return NothingToQuantize(graph, model);
  model.other_nodes = static_cast<int64_t>(graph.nodes.size()) - counted;

  TINYPROF_ASSIGN_OR_RETURN(model.graph, Rewrite(prepared.graph, quantized, options));
  model.quantized_weight_bytes = WeightBytesOf(model.graph);
  TINYPROF_ASSIGN_OR_RETURN(const SampledOutputs exact, HeldOut(graph, options, 0));
  TINYPROF_ASSIGN_OR_RETURN(const SampledOutputs got,
                            HeldOut(model.graph, options, options.held_out));
  model.errors = CompareOutputs(graph, exact, got);
  return model;
}

}  // namespace tinyprof
