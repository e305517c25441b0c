// Turns the opening of perf events off for this process. Some seccomp policies end a process that
// tries, so what counts for others must be able to do without.
#pragma once

#include <optional>

#include "daemon/counters/counter_errors.h"

namespace tinyprof {

// For the rest of the process, whatever opens events is refused with EPERM for this reason, and
// PAPI is not initialised. Before any thread is started and any backend made.
void TurnEventsOff(Refusal why);
// Why they are off; absent: they are on.
const std::optional<Refusal>& EventsOff();

}  // namespace tinyprof
