#include "daemon/measure/dispatch_cost.h"

#include <fmt/format.h>

#include <vector>

#include "daemon/measure/statistics.h"
#include "daemon/measure/timing_passes.h"

namespace tinyprof {
namespace {

constexpr size_t kLeastBatches = 3;
constexpr int64_t kMaxRepeats = 16'384;

double TimeBatch(Workload& empty, size_t node, int64_t repeats, Clock& clock, double read_cost_ns) {
  const int64_t begin_ns = clock.NowNs();
  for (int64_t i = 0; i < repeats; ++i) empty.RunNode(node);
  return static_cast<double>(clock.NowNs() - begin_ns) - read_cost_ns;
}

Result<double> MeasureStart(Workload& empty, size_t node, Clock& clock, double read_cost_ns,
                            const MeasureHooks& hooks) {
  const int64_t deadline_ns = clock.NowNs() + kDispatchBudgetNs;
  // The search for a batch that is long enough warms up, too.
  const double wanted_ns = TimingPasses::kShortLayerReads * read_cost_ns;
  int64_t repeats = 1;
  while (TimeBatch(empty, node, repeats, clock, read_cost_ns) < wanted_ns &&
         repeats < kMaxRepeats) {
    repeats *= 2;
  }
  std::vector<double> start_ns;
  while (start_ns.size() < kLeastBatches ||
         (start_ns.size() < kDispatchBatches && clock.NowNs() < deadline_ns)) {
    TINYPROF_RETURN_IF_ERROR(CheckCancelled(hooks));
    start_ns.push_back(TimeBatch(empty, node, repeats, clock, read_cost_ns) /
                       static_cast<double>(repeats));
  }
  const double median_ns = Median(start_ns);
  if (median_ns > 0) return median_ns;
  return Fail(ErrorCode::kFailedPrecondition, "NO_DISPATCH_TIME",
              "the clock is too coarse for what starting a layer takes");
}

}  // namespace

Result<DispatchCost> MeasureDispatchCost(Workload& empty, Clock& clock, double read_cost_ns,
                                         const MeasureHooks& hooks) {
  DispatchCost cost;
  TINYPROF_ASSIGN_OR_RETURN(cost.alone_ns, MeasureStart(empty, 0, clock, read_cost_ns, hooks));
  if (empty.node_count() > 1) {
    TINYPROF_ASSIGN_OR_RETURN(cost.team_ns, MeasureStart(empty, 1, clock, read_cost_ns, hooks));
  }
  return cost;
}

std::string NoDispatchWarning(const Error& error) {
  return fmt::format(
      "what starting a layer takes could not be measured ({}), so no layer with work is labelled "
      "overhead, and none has advice on its kernel",
      error.message);
}

}  // namespace tinyprof
