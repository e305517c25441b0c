#include "kernels/graph/readers.h"

namespace tinyprof {

Readers::Readers(const Graph& graph)
    : graph_(graph), nodes_(graph.values.size()), is_output_(graph.values.size()) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].inputs) {
      if (id != kNoValue) nodes_[static_cast<size_t>(id)].push_back(n);
    }
  }
  for (const ValueId id : graph.outputs) {
    if (id != kNoValue) is_output_[static_cast<size_t>(id)] = true;
  }
}

std::optional<size_t> Readers::Only(ValueId id) const {
  if (IsGraphOutput(id) || Of(id).size() != 1) return std::nullopt;
  return Of(id)[0];
}

}  // namespace tinyprof
