// Finds the fastest kernels for a whole network, by timing.
//
// Each node's kernels are timed alone (kernel_race.h). The fastest one of each need not make the
// fastest network, since kernels of oneDNN want operands in layouts of their own and what
// rearranges them takes time, too. So several whole plans are timed, and the fastest wins:
//   no kernel of oneDNN
//   oneDNN's kernel wherever it has one
//   the fastest kernel of each node
//   the same, but oneDNN's only where it is faster with its rearranging, or stands among its own
#pragma once

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/runtime/run_plan.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

// Runs on the caller's team. `options` as KernelRace takes them. Fails as Session::Create() does.
Result<RunPlan> PlanBest(const Graph& graph, const SessionOptions& options);

}  // namespace tinyprof
