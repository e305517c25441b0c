#include "kernels/runtime/run_plan.h"

#include <utility>

#include "kernels/runtime/best_plan.h"
#include "kernels/runtime/fusion_plan.h"
#include "kernels/runtime/layout_plan.h"

namespace tinyprof {

Result<RunPlan> PlanRun(Graph graph, const SessionOptions& options, bool fuse) {
  if (fuse) {
    TINYPROF_ASSIGN_OR_RETURN(graph, PlanFusion(graph, options));
  }
  if (options.backend == Backend::kBest) return PlanBest(graph, options);
  TINYPROF_ASSIGN_OR_RETURN(LayoutPlan plan, PlanLayouts(std::move(graph), options));
  RunPlan run{.graph = std::move(plan.graph), .options = options, .timings = {}};
  run.options.layouts = std::move(plan.layouts);
  return run;
}

}  // namespace tinyprof
