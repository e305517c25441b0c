// Gives the values of a graph the layouts that a backend's kernels want, and puts nodes between
// them that rearrange, so that each rearrangement is a layer with its own time.
#pragma once

#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/ops/layout.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

struct LayoutPlan {
  // The graph with "Reorder" nodes. Its inputs and outputs are those of the original, row-major and
  // by the same names.
  Graph graph;
  std::vector<LayoutPtr> layouts;  // by ValueId, for SessionOptions; empty: all row-major
  // By node, for SessionOptions; as they were where no node was put between.
  std::vector<KernelChoice> choices;
};

// Where no node is onednn's the graph comes back as it is. A value keeps the layout that its
// node gives it until a node wants another one; a rearranged copy serves all later nodes that want
// it. Fails as PrepareOnednn() does.
Result<LayoutPlan> PlanLayouts(Graph graph, const SessionOptions& options);

}  // namespace tinyprof
