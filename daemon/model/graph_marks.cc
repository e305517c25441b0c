#include "daemon/model/graph_marks.h"

#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace tinyprof {
namespace {

// Where an operator has trained weights.
std::vector<size_t> WeightInputsOf(std::string_view op_type) {
  static const std::map<std::string_view, std::vector<size_t>> kByType = {
      {"Conv", {1, 2}},
      {"ConvTranspose", {1, 2}},
      {"Gemm", {0, 1, 2}},
      {"MatMul", {0, 1}},
      {"BatchNormalization", {1, 2}},
      {"LayerNormalization", {1, 2}},
      {"PRelu", {1}},
      {"Gather", {0}},
      {"LSTM", {1, 2, 3}},
      {"GRU", {1, 2, 3}},
      {"RNN", {1, 2, 3}},
      {"Add", {0, 1}},
      {"Sub", {0, 1}},
      {"Mul", {0, 1}},
      {"Div", {0, 1}},
      {"QLinearConv", {3, 8}},
      {"QLinearMatMul", {3}},
      {"ConvInteger", {1}},
      {"MatMulInteger", {1}},
  };
  const auto found = kByType.find(op_type);
  return found == kByType.end() ? std::vector<size_t>() : found->second;
}

bool IsQuantized(std::string_view op_type) {
  return op_type.starts_with("QLinear") || op_type.ends_with("Integer");
}

bool IsFloat(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

bool IsParameter(const Value& value, std::string_view op_type) {
  if (value.kind != Value::Kind::kInitializer) return false;
  if (IsQuantized(op_type)) return true;
  const bool elementwise =
      op_type == "Add" || op_type == "Sub" || op_type == "Mul" || op_type == "Div";
  return IsFloat(value.type.dtype) && (!elementwise || value.type.shape.element_count() > 1);
}

// Values that dynamic quantization makes: what multiplies them is a scale too, and nothing trained.
std::set<ValueId> ScalesOf(const Graph& graph) {
  std::set<ValueId> scales;
  for (const Node& node : graph.nodes) {
    if (node.op_type == "DynamicQuantizeLinear" && node.outputs.size() > 1) {
      scales.insert(node.outputs[1]);
    }
  }
  return scales;
}

}  // namespace

void MarkParameters(Graph& graph) {
  const std::set<ValueId> scales = ScalesOf(graph);
  for (const Node& node : graph.nodes) {
    if (node.op_type == "Mul" && scales.contains(node.inputs[0])) continue;
    for (const size_t i : WeightInputsOf(node.op_type)) {
      if (i >= node.inputs.size() || node.inputs[i] == kNoValue) continue;
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
