#include "daemon/model/graph_prune.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace tinyprof {
namespace {

std::vector<bool> LiveNodes(const Graph& graph, std::vector<bool>& live_values) {
  for (const ValueId id : graph.outputs) live_values[static_cast<size_t>(id)] = true;
  std::vector<bool> live(graph.nodes.size());
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    live[i] = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return id != kNoValue && live_values[static_cast<size_t>(id)];
    });
    if (!live[i]) continue;
    for (const std::vector<ValueId>* ids : {&node.inputs, &node.outputs}) {
      for (const ValueId id : *ids) {
        if (id != kNoValue) live_values[static_cast<size_t>(id)] = true;
      }
    }
  }
  return live;
}

// The inputs of an operator that hold trained weights, from `first` to `last`.
struct WeightInputs {
  size_t first;
  size_t last;
};

WeightInputs WeightInputsOf(std::string_view op_type) {
  static const std::map<std::string_view, WeightInputs> kByType = {
      {"Conv", {1, 2}},
      {"ConvTranspose", {1, 2}},
      {"Gemm", {0, 2}},
      {"MatMul", {0, 1}},
      {"BatchNormalization", {1, 2}},
      {"LayerNormalization", {1, 2}},
      {"PRelu", {1, 1}},
      {"Gather", {0, 0}},
      {"LSTM", {1, 3}},
      {"GRU", {1, 3}},
      {"RNN", {1, 3}},
      {"Add", {0, 1}},
      {"Sub", {0, 1}},
      {"Mul", {0, 1}},
      {"Div", {0, 1}},
  };
  const auto found = kByType.find(op_type);
  return found == kByType.end() ? WeightInputs{1, 0} : found->second;
}

bool IsParameter(const Value& value, std::string_view op_type) {
  const bool is_float = value.type.dtype == DType::kFloat32 ||
                        value.type.dtype == DType::kFloat64 ||
                        value.type.dtype == DType::kFloat16 || value.type.dtype == DType::kBFloat16;
  if (value.kind != Value::Kind::kInitializer || !is_float) return false;
  const bool elementwise =
      op_type == "Add" || op_type == "Sub" || op_type == "Mul" || op_type == "Div";
  return !elementwise || value.type.shape.element_count() > 1;
}

}  // namespace

void Prune(Graph& graph) {
  std::vector<bool> live_values(graph.values.size());
  const std::vector<bool> live_nodes = LiveNodes(graph, live_values);
  for (const ValueId id : graph.inputs) live_values[static_cast<size_t>(id)] = true;

  std::vector<ValueId> new_ids(graph.values.size(), kNoValue);
  std::vector<Value> values;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!live_values[i]) continue;
    new_ids[i] = static_cast<ValueId>(values.size());
    values.push_back(std::move(graph.values[i]));
  }
  const auto renumber = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) {
      if (id != kNoValue) id = new_ids[static_cast<size_t>(id)];
    }
  };
  std::vector<Node> nodes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!live_nodes[i]) continue;
    renumber(graph.nodes[i].inputs);
    renumber(graph.nodes[i].outputs);
    nodes.push_back(std::move(graph.nodes[i]));
  }
  renumber(graph.inputs);
  renumber(graph.outputs);
  graph.values = std::move(values);
  graph.nodes = std::move(nodes);
}

void MarkParameters(Graph& graph) {
  for (const Node& node : graph.nodes) {
    const WeightInputs weights = WeightInputsOf(node.op_type);
    for (size_t i = weights.first; i <= weights.last && i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      Value& value = graph.values[static_cast<size_t>(node.inputs[i])];
      if (IsParameter(value, node.op_type)) value.is_parameter = true;
    }
  }
}

void BoundTokenInputs(Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.op_type != "Gather" || node.inputs.size() < 2) continue;
    Value& indices = graph.values[static_cast<size_t>(node.inputs[1])];
    if (indices.kind != Value::Kind::kInput) continue;
    const Shape& table = graph.value(node.inputs[0]).type.shape;
    const NodeSignature signature{.node = &node, .inputs = {}, .outputs = {}};
    int64_t axis = signature.Int("axis", 0);
    if (axis < 0) axis += static_cast<int64_t>(table.rank());
    indices.fill.value = static_cast<double>(table[static_cast<size_t>(axis)]);
  }
}

}  // namespace tinyprof
