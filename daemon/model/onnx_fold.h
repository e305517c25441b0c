// Works out at import what does not depend on the run.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/model/tensor_proto.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

// The elements of an initializer, or null when they are not known or it is none.
const std::byte* KnownData(const Graph& graph, ValueId id);

// Limits what folding may cost, so that a small file cannot ask for much memory or time.
class FoldBudget {
 public:
  explicit FoldBudget(int64_t bytes) : bytes_left_(bytes) {}
  // Takes `bytes` if that much is left.
  bool Take(int64_t bytes);

 private:
  int64_t bytes_left_;
};

// The outputs of `node`, whose types are `types`, if its inputs are known. Folded are: everything
// with integer or bool outputs, operators that only move elements, and arithmetic on single floats;
// other arithmetic on weights stays in the graph, since the file's author left it for the run.
// Empty: not folded.
std::vector<TensorData> Fold(const Graph& graph, const Node& node,
                             const std::vector<TensorType>& types, FoldBudget& budget);

}  // namespace tinyprof
