// Makes a network ready for a Session: what runs as one, by which kernels, in which layouts.
#pragma once

#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/runtime/kernel_race.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

struct RunPlan {
  Graph graph;             // with fused and "Reorder" nodes
  SessionOptions options;  // with choices and layouts, for `graph`
  // Of Backend::kBest, by node of `graph`, fastest first; empty for a Reorder. Else empty.
  std::vector<std::vector<KernelTiming>> timings;
};

// Fuses when asked to, and with Backend::kBest runs the kernels on the caller's team to find the
// fastest. Fails as PlanFusion(), PlanLayouts() and PlanBest() do.
Result<RunPlan> PlanRun(Graph graph, const SessionOptions& options, bool fuse);

}  // namespace tinyprof
