// Measuring without a machine: the engine behind Measure, on interfaces that tests script.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/counters/counter_backend.h"
#include "daemon/counters/counter_plan.h"
#include "daemon/counters/software_events.h"
#include "daemon/measure/clock.h"
#include "daemon/measure/measure.h"
#include "daemon/measure/memory_traffic.h"
#include "daemon/measure/timing_passes.h"
#include "daemon/measure/workload.h"
#include "kernels/base/error.h"

namespace tinyprof {

// INVALID_ARGUMENT / "BAD_THREADS", "BAD_PRECISION" or "BAD_BUDGET".
Status CheckOptions(const MeasureOptions& options);

// What counts beside the clock.
struct Instruments {
  CounterBackend& counters;
  const CounterPlan& plan;  // of `counters`
  SoftwarePlan software;
  PreemptionCounter preemptions;
  MemoryControllers memory;
  // One layer without work, and where there is a team, one that is started on all of it
  // (empty_layers.h); null: what starting a layer takes is absent.
  Workload* empty_layers = nullptr;
  // Of the cores while they are busy, against which cycles are held; absent: not known.
  std::optional<double> clock_hz;
};

// The warning of a run without a dispatch cost.
std::string NoDispatchWarning(std::string_view why);

// All of RunMeasurement but machine and max_resident_bytes. Errors as Measure.
Result<RunMeasurement> MeasureWorkload(Workload& workload, Clock& clock, Instruments instruments,
                                       const MeasureOptions& options, const MeasureHooks& hooks);

}  // namespace tinyprof
