#include <memory>

#include "daemon/convert/counters.h"
#include "daemon/counters/counter_report.h"
#include "daemon/counters/diagnosis.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/worker/tasks.h"

namespace tinyprof {

Result<worker::WorkerEvent> RunCountersTask() {
  const std::unique_ptr<CounterBackend> backend = MakePapiBackend(1);
  worker::WorkerEvent event;
  worker::CountersResult& result = *event.mutable_counters();
  *result.mutable_counters() = ToProto(ReportCounters(*backend));
  for (const DiagnosticCheck& check : Diagnose({.backend = backend->info()})) {
    *result.add_checks() = ToProto(check);
  }
  result.set_papi_version(backend->info().version);
  result.set_pmu(backend->info().pmu);
  return event;
}

}  // namespace tinyprof
