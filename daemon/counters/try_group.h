// Whether events can be counted, found by counting: no other sign can be trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "daemon/counters/counter_backend.h"

namespace tinyprof {

// Opens, starts, reads and closes a group on the calling thread, as thread 0.
Status TryGroup(CounterBackend& backend, std::span<const std::string> events);

// Counts `work(n)` and then `work(2 n)` on the calling thread, as thread 0, after one unit of
// warm-up, and returns the difference of the two for each event: what n units of work cost, the
// cost of calling and of reading cancelled out to the last instruction. ABORTED / "COUNTERS_LOST"
// when a count runs backwards.
Result<std::vector<int64_t>> CountWork(CounterBackend& backend, std::span<const std::string> events,
                                       const std::function<void(int64_t)>& work, int64_t n);

}  // namespace tinyprof
