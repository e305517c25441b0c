// Whether counts can be those of the passes that were counted. Pure.
//
// How far an event is trusted was found out when counters were calibrated, maybe long ago. Since
// then a counter may have stopped, got stuck, or count another amount (a virtual machine that moved
// to another host, a hypervisor that took its PMU away). So what a run counted is held against what
// it must have done: the time it took, the FLOPs that its layers cannot do without, and the limits
// of all cores (physical_limits.h).
//
// What cannot be is left out, and 0 where there must be something is such a count. What is merely
// hard to explain is suspect. Where cycles or instructions are in doubt, so is all that was counted
// in one group with them, and a 0 beside them tells nothing.
#pragma once

#include <optional>
#include <vector>

#include "daemon/counters/counter_plan.h"
#include "daemon/measure/counter_passes.h"
#include "daemon/measure/doubts.h"
#include "daemon/measure/measure.h"
#include "daemon/measure/workload.h"

namespace tinyprof {

// What is known of a pass by other means than counters.
struct PassFacts {
  double pass_ns = 0;            // of a bare pass
  std::vector<double> layer_ns;  // by layer
  std::vector<LayerWork> work;   // by layer
  int threads = 1;
  // Of the cores while they were busy; absent: not known, or cycles that are no core's.
  std::optional<double> clock_hz;
};

// Takes from `layers` what cannot be, makes suspect what is hard to explain, and says what and why.
// `samples` are those behind `layers`, counted by `plan`.
std::vector<Doubt> RemoveImplausible(const CounterPlan& plan, const CounterSamples& samples,
                                     const PassFacts& facts, std::vector<CounterValues>& layers);

}  // namespace tinyprof
