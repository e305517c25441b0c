// Which nodes may follow a matrix product or a convolution within a fused node, and what they come
// to. The pieces of FuseNodes() (fusion_plan.h).
#pragma once

#include <optional>
#include <vector>

#include "kernels/graph/fusion.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/readers.h"

namespace tinyprof {

// Whether a fused node may begin with it.
bool IsHead(const Graph& graph, const Node& node);

// What follows `y`, the result so far of a node that begins with `head`.
struct Follower {
  std::vector<size_t> nodes;      // in execution order
  FusedStep step;                 // without inputs
  std::vector<ValueId> operands;  // the step's inputs
  ValueId result = kNoValue;
};
std::optional<Follower> FollowerOf(const Readers& readers, const Node& head, ValueId y);

}  // namespace tinyprof
