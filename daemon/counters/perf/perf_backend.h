// Counters without PAPI, for CPUs that libpfm4 does not know and where PAPI is switched off.
//
// PAPI 7.0.0 switches all of its events off, software ones too, on a CPU that libpfm4 does not know
// and where perf_event_paranoid is 3; the kernel still counts there. One pinned group for each
// thread: every event counts all the time, or opening or reading fails with a reason. User mode
// only, unless the event's name ends with ":k=1".
#pragma once

#include <memory>
#include <string>

#include "daemon/counters/counter_backend.h"
#include "daemon/counters/counter_errors.h"
#include "daemon/counters/perf/perf_calls.h"
#include "daemon/counters/raw_event.h"

namespace tinyprof {

struct PerfBackendOptions {
  int max_threads = 1;
  // The CPU's own events, beside those that the kernel has names for (perf_events.h); may be empty.
  RawEventResolver resolve;
  std::string pmu;             // of info(); may be empty
  bool software_only = false;  // hardware events are EVENT_UNKNOWN
  RefusalContext context;      // what explains refusals
};

// `calls` outlives the backend.
std::unique_ptr<CounterBackend> MakePerfBackend(PerfBackendOptions options,
                                                PerfCalls& calls = KernelPerfCalls());

// The kernel's software events alone.
std::unique_ptr<CounterBackend> MakeSoftwareBackend(int max_threads);

}  // namespace tinyprof
