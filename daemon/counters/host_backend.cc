#include "daemon/counters/host_backend.h"

#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/perf/perf_backend.h"
#include "daemon/counters/system_facts.h"

namespace tinyprof {

BackendChoice ChooseBackend(const BackendInfo& papi, int hardware_event_errno) {
  const bool papi_counts = papi.unusable_reason.empty() && !papi.pmu.empty();
  return !papi_counts && hardware_event_errno == 0 ? BackendChoice::kPerfEvent
                                                   : BackendChoice::kPapi;
}

std::unique_ptr<CounterBackend> MakeHostBackend(int max_threads, CpuEvents events) {
  std::unique_ptr<CounterBackend> papi = MakePapiBackend(max_threads);
  const SystemFacts facts = GatherFacts({.backend = papi->info()});
  if (ChooseBackend(papi->info(), facts.hardware_event_errno) == BackendChoice::kPapi) {
    return papi;
  }
  return MakePerfBackend({.max_threads = max_threads,
                          .resolve = std::move(events.resolve),
                          .pmu = std::move(events.pmu),
                          .context = ContextOf(facts)});
}

}  // namespace tinyprof
