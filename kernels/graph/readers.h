// Which nodes read a value.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/graph/graph.h"

namespace tinyprof {

// Who reads each value of a graph, which must outlive this.
class Readers {
 public:
  explicit Readers(const Graph& graph);

  const Graph& graph() const { return graph_; }
  // Indices of nodes, one for each input that is the value.
  const std::vector<size_t>& Of(ValueId id) const { return nodes_[static_cast<size_t>(id)]; }
  bool IsGraphOutput(ValueId id) const { return is_output_[static_cast<size_t>(id)]; }
  // The one node that reads the value, once, where nobody else needs it.
  std::optional<size_t> Only(ValueId id) const;

 private:
  const Graph& graph_;
  std::vector<std::vector<size_t>> nodes_;
  std::vector<bool> is_output_;
};

}  // namespace tinyprof
