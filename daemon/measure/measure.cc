#include "daemon/measure/measure.h"

#include <fmt/format.h>

#include <utility>

#include "daemon/counters/known_work.h"
#include "daemon/measure/machine_state.h"
#include "daemon/measure/measure_workload.h"
#include "daemon/measure/session_workload.h"

namespace tinyprof {

Result<RunMeasurement> Measure(Session& session, CounterBackend& counters,
                               const MeasureOptions& options, const MeasureHooks& hooks) {
  TINYPROF_RETURN_IF_ERROR(CheckOptions(options));
  CounterPlan plan;
  const int64_t resident_before_bytes = MaxResidentBytes();
  if (options.counters != CounterMode::kNone) {
    plan = PlanCounters(counters, HostKnownWork());
  }
  const int64_t resident_planned_bytes = MaxResidentBytes();
  TINYPROF_ASSIGN_OR_RETURN(SessionWorkload workload,
                            SessionWorkload::Create(session, options.cache == CacheMode::kCold));
  SoftwarePlan software = PlanSoftwareEvents(counters, options.threads);
  MachineWatch machine(options);
  TINYPROF_ASSIGN_OR_RETURN(RunMeasurement run, MeasureWorkload(workload, MonotonicClock(),
                                                                {.counters = counters,
                                                                 .plan = plan,
                                                                 .software = std::move(software),
                                                                 .preemptions = InvoluntarySwitches,
                                                                 .memory = HostMemoryControllers()},
                                                                options, hooks));
  run.machine = machine.Finish(run.warnings);
  run.max_resident_bytes = MaxResidentBytes();
  // The kernel keeps one peak for the whole life of a process.
  if (run.max_resident_bytes == resident_planned_bytes &&
      resident_planned_bytes > resident_before_bytes) {
    run.warnings.push_back(fmt::format(
        "the largest resident memory was reached while counters were calibrated, before the first "
        "pass: the model alone took less than these {} bytes",
        run.max_resident_bytes));
  }
  return run;
}

}  // namespace tinyprof
