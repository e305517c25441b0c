// The kernel's software events, opened without PAPI.
//
// PAPI 7.0.0 switches all of its events off, software ones too, on a CPU that libpfm4 does not know
// and where perf_event_paranoid is 3. The kernel still counts page faults there, so this backend
// asks it directly. It knows the names of kSoftwareEvents (software_events.h) and nothing else.
#pragma once

#include <memory>

#include "daemon/counters/counter_backend.h"

namespace tinyprof {

std::unique_ptr<CounterBackend> MakeSoftwareBackend(int max_threads);

}  // namespace tinyprof
