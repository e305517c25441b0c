// What the rewriting of graphs for quantization shares: what a weight holds, and values and nodes
// with names of their own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/graph/graph.h"

namespace tinyprof {

bool IsFloat32(const Graph& graph, ValueId id);               // false for kNoValue
bool IsInitializer(const Graph& graph, ValueId id);           // false for kNoValue
std::vector<float> FloatsOf(const Graph& graph, ValueId id);  // of a float32 initializer

// Adds to a graph. References to its values do not outlive an addition.
class GraphEdit {
 public:
  explicit GraphEdit(Graph& graph);

  ValueId Add(Value value);  // its name made unique
  ValueId Activation(const std::string& name, TensorType type);
  ValueId Initializer(const std::string& name, TensorType type, Fill fill, bool is_parameter);
  std::string UniqueNodeName(const std::string& wanted);

 private:
  Graph& graph_;
  // How many copies of a name there are.
  std::map<std::string, int> value_names_;
  std::map<std::string, int> node_names_;
};

// A fill that holds `elements`.
template <class T>
Fill DataOf(const std::vector<T>& elements) {
  const auto* first = reinterpret_cast<const std::byte*>(elements.data());
  return {.kind = Fill::Kind::kData,
          .data = std::make_shared<const std::vector<std::byte>>(
              first, first + elements.size() * sizeof(T))};
}

// Gives every value a name that no other has, graph inputs and outputs first: an imported graph may
// have values without one, and unrolled loops repeat them.
void MakeNamesUnique(Graph& graph);

}  // namespace tinyprof
