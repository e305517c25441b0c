// Names of events to what perf_event_open wants of them. Pure.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "daemon/counters/raw_event.h"

namespace tinyprof {

// What to count on one thread.
struct EventRequest {
  RawEvent event;
  bool count_kernel = false;  // beside user mode
  bool leader = true;         // of its group; the others follow it
};

// A leader is pinned: the kernel counts its whole group all the time, or says that it does not.
perf_event_attr AttributesOf(const EventRequest& request);

// What read(2) gives for a group of events with these attributes: the number of events, the times
// in ns for which the group was enabled and on the counters, then the values in the order of
// opening.
inline constexpr size_t kGroupHeaderWords = 3;
enum GroupHeader : size_t { kGroupSize, kEnabledNs, kRunningNs };

// The kernel's own events by libpfm4's names: "perf::CYCLES", "perf::L1-DCACHE-LOAD-MISSES",
// "perf::PAGE-FAULTS". Absent for any other name.
std::optional<RawEvent> GenericEvent(std::string_view name);

// `name`, which ends with ":k=1" when kernel mode counts too, as the CPU's `resolve` (may be empty)
// or else the kernel knows it. Absent: neither does.
std::optional<EventRequest> ResolveEvent(std::string_view name, const RawEventResolver& resolve);

}  // namespace tinyprof
