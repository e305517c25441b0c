// Counts known loops with a formula's events.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "daemon/counters/calibration/judge.h"
#include "daemon/counters/calibration/known_loop.h"
#include "daemon/counters/counter_backend.h"
#include "daemon/counters/event_catalogue.h"
#include "kernels/base/error.h"

namespace tinyprof {

// When to stop.
struct CountingBudget {
  std::function<int64_t()> now_ns;
  int64_t deadline_ns = 0;
  int repeats = 3;  // of each loop

  bool over() const { return now_ns() >= deadline_ns; }
};

// Counts each loop `repeats` times on the calling thread, as thread 0: doses of n and of 2 n
// iterations, whose difference is what n iterations cost, the cost of reading cancelled out. The
// events are opened together as far as they fit; a loop is counted with one group after another. A
// loop whose counters were lost has the reason instead of counts, and so has each loop that the
// deadline left no time for (NO_TIME); the first loop is counted whatever the time. Fails when the
// backend refuses an event.
Result<std::vector<LoopSample>> CountLoops(CounterBackend& backend, const Formula& formula,
                                           std::span<const KnownLoop* const> loops,
                                           const CountingBudget& budget);

}  // namespace tinyprof
