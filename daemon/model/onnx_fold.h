// Works out at import what does not depend on the run.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/model/tensor_proto.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

// The elements of an initializer, or null when they are not known or it is none.
const std::byte* KnownData(const Graph& graph, ValueId id);

// Limits what folding all of one file may cost, so that a small file cannot ask for much memory or
// time. Work is counted in elements read and written plus operations on them.
class FoldBudget {
 public:
  // For a file of `file_bytes`: enough to move every weight a few times.
  explicit FoldBudget(int64_t file_bytes);
  // Takes both if that much of both is left.
  bool Take(int64_t bytes, int64_t work);
  // Whether something was not folded because it would have cost too much.
  bool was_short() const { return was_short_; }
  void NoteShort() { was_short_ = true; }

 private:
  int64_t bytes_left_;
  int64_t work_left_;
  bool was_short_ = false;
};

// The outputs of `node`, whose types are `types`, if its inputs are known. Folded are: everything
// with integer or bool outputs, operators that only move elements, and arithmetic on single floats;
// other arithmetic on weights stays in the graph, since the file's author left it for the run.
// Empty: not folded.
std::vector<TensorData> Fold(const Graph& graph, const Node& node,
                             const std::vector<TensorType>& types, FoldBudget& budget);

}  // namespace tinyprof
