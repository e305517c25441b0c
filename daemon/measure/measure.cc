#include "daemon/measure/measure.h"

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
  if (options.counters != CounterMode::kNone) {
    plan = PlanCounters(counters, HostKnownWork());
  }
  TINYPROF_ASSIGN_OR_RETURN(SessionWorkload workload,
                            SessionWorkload::Create(session, options.cache == CacheMode::kCold));
  SoftwarePlan software = PlanSoftwareEvents(counters, options.threads);
  MachineWatch machine(options);
  TINYPROF_ASSIGN_OR_RETURN(
      RunMeasurement run,
      MeasureWorkload(workload, MonotonicClock(), counters, plan, std::move(software),
                      InvoluntarySwitches, options, hooks));
  run.machine = machine.Finish(run.warnings);
  run.max_resident_bytes = MaxResidentBytes();
  return run;
}

}  // namespace tinyprof
