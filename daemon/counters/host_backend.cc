#include "daemon/counters/host_backend.h"

#include <fstream>
#include <iterator>
#include <string>

#include "daemon/counters/cpu_family.h"
#include "daemon/counters/event_catalogue.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/perf/perf_backend.h"
#include "daemon/counters/system_facts.h"

namespace tinyprof {

CpuEvents HostCpuEvents(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const CpuFamily family = FamilyOf(ParseCpuinfo(text));
  return {.pmu = std::string(Name(family)),
          .resolve = [family](std::string_view event) { return RawEncoding(family, event); }};
}

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
