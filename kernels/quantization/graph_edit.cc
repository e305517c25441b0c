#include "kernels/quantization/graph_edit.h"

#include <fmt/format.h>

#include <utility>

namespace tinyprof {
namespace {

std::string Unique(std::map<std::string, int>& taken, std::string wanted) {
  if (wanted.empty()) wanted = "value";
  const auto [seen, is_new] = taken.try_emplace(wanted, 0);
  if (is_new) return wanted;
  std::string name;
  do {
    name = fmt::format("{}_{}", wanted, ++seen->second);
  } while (!taken.try_emplace(name, 0).second);
  return name;
}

}  // namespace

bool IsFloat32(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).type.dtype == DType::kFloat32;
}

bool IsInitializer(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).kind == Value::Kind::kInitializer;
}

std::vector<float> FloatsOf(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  const int64_t count = value.type.shape.element_count();
  std::vector<float> floats(static_cast<size_t>(count));
  Materialize(value.fill, DType::kFloat32, 0, count, floats.data());
  return floats;
}

GraphEdit::GraphEdit(Graph& graph) : graph_(graph) {
  for (const Value& value : graph.values) value_names_.try_emplace(value.name, 0);
  for (const Node& node : graph.nodes) node_names_.try_emplace(node.name, 0);
}

ValueId GraphEdit::Add(Value value) {
  value.name = Unique(value_names_, value.name);
  graph_.values.push_back(std::move(value));
  return static_cast<ValueId>(graph_.values.size() - 1);
}

ValueId GraphEdit::Activation(const std::string& name, TensorType type) {
  return Add({.name = name, .type = std::move(type), .fill = {}});
}

ValueId GraphEdit::Initializer(const std::string& name, TensorType type, Fill fill,
                               bool is_parameter) {
  return Add({.name = name,
              .kind = Value::Kind::kInitializer,
              .type = std::move(type),
              .fill = std::move(fill),
              .is_parameter = is_parameter});
}

std::string GraphEdit::UniqueNodeName(const std::string& wanted) {
  return Unique(node_names_, wanted);
}

void MakeNamesUnique(Graph& graph) {
  std::map<std::string, int> taken;
  std::vector<bool> done(graph.values.size());
  const auto name = [&](size_t index) {
    if (done[index]) return;
    done[index] = true;
    graph.values[index].name = Unique(taken, graph.values[index].name);
  };
  for (const auto* ids : {&graph.inputs, &graph.outputs}) {
    for (const ValueId id : *ids) name(static_cast<size_t>(id));
  }
  for (size_t index = 0; index < graph.values.size(); ++index) name(index);
}

}  // namespace tinyprof
