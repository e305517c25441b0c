#include "kernels/graph/prune.h"

#include <algorithm>
#include <utility>
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

}  // namespace tinyprof
