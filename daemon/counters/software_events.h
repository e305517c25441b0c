// Events that the kernel counts without any PMU.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/counters/counter_backend.h"

namespace tinyprof {

struct SoftwareEvent {
  std::string_view metric;
  std::string_view unit;
  // PAPI's name. Switches and migrations happen in the kernel, so those two ask for kernel mode,
  // without which they read 0 for ever.
  std::string_view event;
};
inline constexpr std::array<SoftwareEvent, 4> kSoftwareEvents = {{
    {"task_clock", "ns", "perf::TASK-CLOCK"},
    {"page_faults", "count", "perf::PAGE-FAULTS"},
    {"context_switches", "count", "perf::CONTEXT-SWITCHES:k=1"},
    {"migrations", "count", "perf::CPU-MIGRATIONS:k=1"},
}};
enum SoftwareMetric : size_t { kTaskClock, kPageFaults, kContextSwitches, kMigrations };

// The events that can be counted together, and where each is among them.
struct SoftwarePlan {
  CounterBackend* backend = nullptr;      // who counts them; null when nobody can
  std::unique_ptr<CounterBackend> owned;  // set when it is not the backend that was given
  std::vector<std::string> events;
  std::array<std::optional<size_t>, kSoftwareEvents.size()> index;  // absent: see reasons
  std::array<std::string, kSoftwareEvents.size()> reasons;          // "CODE: sentence"
};

// Tries each event on the calling thread, as thread 0: with `preferred`, and where that counts none
// of them, with the kernel directly.
SoftwarePlan PlanSoftwareEvents(CounterBackend& preferred, int max_threads);

}  // namespace tinyprof
