#include <memory>

#include "daemon/convert/counters.h"
#include "daemon/counters/counter_report.h"
#include "daemon/counters/host_backend.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/simulated_pmu.h"
#include "daemon/worker/tasks.h"

namespace tinyprof {

Result<worker::WorkerEvent> RunCountersTask() {
  const std::unique_ptr<CounterBackend> papi = MakePapiBackend(1);
  const std::unique_ptr<CounterBackend> backend = MakeHostBackend(1);
  worker::WorkerEvent event;
  worker::CountersResult& result = *event.mutable_counters();
  *result.mutable_counters() = ToProto(ReportCounters(*backend));
  result.set_papi_version(papi->info().version);
  const BackendInfo& info = backend->info();
  const bool stand_in = info.name == kSimulatedBackend && !info.pmu.empty();
  result.set_pmu(stand_in ? info.pmu + " (simulated)" : info.pmu);
  return event;
}

}  // namespace tinyprof
