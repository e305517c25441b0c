#include "daemon/measure/measure.h"

#include <optional>
#include <utility>

#include "daemon/counters/known_work.h"
#include "daemon/measure/empty_layers.h"
#include "daemon/measure/machine_state.h"
#include "daemon/measure/measure_workload.h"
#include "daemon/measure/session_workload.h"

namespace tinyprof {
namespace {

struct PlanOfRun {
  CounterPlan counters;
  std::optional<CalibrationPeak> calibration;  // absent: nothing was calibrated
};

PlanOfRun PlanRun(CounterBackend& counters, const MeasureOptions& options) {
  if (options.counters == CounterMode::kNone) return {};
  if (options.known_counters.has_value()) {
    std::optional<CounterPlan> known = PlanKnownCounters(counters, *options.known_counters);
    if (known.has_value()) return {.counters = *std::move(known), .calibration = {}};
  }
  CalibrationPeak peak{.before_bytes = MaxResidentBytes()};
  CounterPlan calibrated = PlanCounters(counters, HostKnownWork());
  peak.after_bytes = MaxResidentBytes();
  return {.counters = std::move(calibrated), .calibration = peak};
}

}  // namespace

Result<RunMeasurement> Measure(Session& session, CounterBackend& counters,
                               const MeasureOptions& options, const MeasureHooks& hooks) {
  TINYPROF_RETURN_IF_ERROR(CheckOptions(options));
  PlanOfRun plan = PlanRun(counters, options);
  TINYPROF_ASSIGN_OR_RETURN(SessionWorkload workload,
                            SessionWorkload::Create(session, options.cache == CacheMode::kCold));
  const Result<std::unique_ptr<EmptyLayers>> empty = EmptyLayers::Create(session.options());
  SoftwarePlan software = PlanSoftwareEvents(counters, options.threads);
  MachineWatch machine(options);
  Instruments instruments{.counters = counters,
                          .plan = plan.counters,
                          .software = std::move(software),
                          .preemptions = InvoluntarySwitches,
                          .memory = HostMemoryControllers(),
                          .empty_layers = empty.has_value() ? empty->get() : nullptr,
                          .clock_hz = machine.clock_hz()};
  TINYPROF_ASSIGN_OR_RETURN(
      RunMeasurement run,
      MeasureWorkload(workload, MonotonicClock(), std::move(instruments), options, hooks));
  if (!empty.has_value()) run.warnings.push_back(NoDispatchWarning(empty.error().message));
  run.machine = machine.Finish(run.warnings);
  run.max_resident_bytes = MaxResidentBytes();
  if (plan.calibration.has_value()) WarnOfCalibration(*plan.calibration, run);
  if (options.counters != CounterMode::kNone) run.trust = std::move(plan.counters.trust);
  return run;
}

}  // namespace tinyprof
