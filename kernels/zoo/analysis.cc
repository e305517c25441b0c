#include "kernels/zoo/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "kernels/base/checked_math.h"
#include "kernels/graph/fusion.h"
#include "kernels/graph/origins.h"
#include "kernels/ops/op.h"
#include "kernels/runtime/memory_plan.h"
#include "kernels/zoo/tinytorch_count.h"

namespace tinyprof {
namespace {

// Twice this and five classes more still fit in 63 bits, so that Cost::flop_count() cannot
// overflow.
constexpr int64_t kMaxCount = int64_t{1} << 59;

std::array<int64_t*, 12> Counters(Cost& cost) {
  FlopClasses& flops = cost.flops;
  return {&flops.mac,         &flops.bias,           &flops.add_mul_div, &flops.minmax,
          &flops.compare,     &flops.transcendental, &flops.reduction,   &cost.valid_tap_mac_count,
          &cost.int_op_count, &cost.weight_bytes,    &cost.input_bytes,  &cost.output_bytes};
}

Status AddTo(Cost& totals, Cost cost, const Node& node) {
  const auto sums = Counters(totals);
  const auto terms = Counters(cost);
  for (size_t i = 0; i < sums.size(); ++i) {
    const Result<int64_t> sum = CheckedAdd(*sums[i], *terms[i]);
    if (!sum || *sum > kMaxCount) {
      return Fail(
          ErrorCode::kOutOfRange, "OVERFLOW",
          fmt::format("the counts up to layer {} pass 2^59: use smaller dimensions", node.name),
          {{"layer", node.name}});
    }
    *sums[i] = *sum;
  }
  return {};
}

std::vector<std::string> FusedNames(const Node& node) {
  std::vector<std::string> names;
  if (node.fusion == nullptr) return names;
  for (const FusedPart& part : node.fusion->parts) names.push_back(part.node.name);
  return names;
}

std::vector<std::string> StandsFor(const Node& node) {
  if (node.fusion == nullptr) return OriginsOf(node);
  bool is_noted = false;
  std::vector<std::string> names;
  for (const FusedPart& part : node.fusion->parts) {
    is_noted = is_noted || !OriginsOf(part.node).empty();
    for (std::string& name : NodesFor(part.node)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(std::move(name));
      }
    }
  }
  return is_noted ? names : std::vector<std::string>();
}

LayerAnalysis Describe(const Graph& graph, size_t index) {
  const Node& node = graph.nodes[index];
  LayerAnalysis layer{.index = static_cast<int64_t>(index),
                      .name = node.name,
                      .op = node.op_type,
                      .path = node.path,
                      .fused = FusedNames(node),
                      .stands_for = StandsFor(node),
                      .input_shapes = {},
                      .output_shapes = {},
                      .parameter_count = CountParameters(graph, node),
                      .cost = std::nullopt};
  for (const ValueId id : node.inputs) {
    if (id != kNoValue) layer.input_shapes.push_back(graph.value(id).type.shape);
  }
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) layer.output_shapes.push_back(graph.value(id).type.shape);
  }
  return layer;
}

Status AnalyzeLayers(const Graph& graph, ModelAnalysis& analysis) {
  std::set<std::string> unknown_ops;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    LayerAnalysis layer = Describe(graph, i);
    const auto node_count = static_cast<int64_t>(std::max<size_t>(layer.fused.size(), 1));
    analysis.coverage.node_count += node_count;
    if (FindOperator(node.op_type) == nullptr) {
      unknown_ops.insert(node.op_type);
    } else {
      TINYPROF_ASSIGN_OR_RETURN(layer.cost, CostOf(SignatureOf(graph, node, true)));
      TINYPROF_RETURN_IF_ERROR(AddTo(analysis.totals, *layer.cost, node));
      analysis.coverage.nodes_with_rule += node_count;
    }
    analysis.layers.push_back(std::move(layer));
  }
  analysis.coverage.unknown_ops.assign(unknown_ops.begin(), unknown_ops.end());
  return {};
}

}  // namespace

Result<ModelAnalysis> Analyze(const Graph& graph) {
  ModelAnalysis analysis;
  TINYPROF_RETURN_IF_ERROR(AnalyzeLayers(graph, analysis));
  analysis.parameters = CountParameters(graph);
  const std::vector<int64_t> no_scratch(graph.nodes.size(), 0);
  TINYPROF_ASSIGN_OR_RETURN(const MemoryPlan plan, PlanMemory(graph, no_scratch));
  analysis.activation_peak_bytes = plan.peak_activation_bytes;
  TINYPROF_ASSIGN_OR_RETURN(analysis.tinytorch_flop_count, TinyTorchFlopCount(graph));
  return analysis;
}

}  // namespace tinyprof
