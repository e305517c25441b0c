// Counters through PAPI: the only folder that includes papi.h.
#pragma once

#include <memory>

#include "daemon/counters/counter_backend.h"

namespace tinyprof {

// Initialises PAPI, once for the process, on the calling thread, which must be the master of the
// team and outlive the backend. Never fails: where PAPI or the hardware cannot count, info() says
// why and opening a hardware event fails with the same reason. `max_threads` is the largest team
// that will attach.
std::unique_ptr<CounterBackend> MakePapiBackend(int max_threads);

}  // namespace tinyprof
