// Why an event cannot be counted: stable reasons, each with one sentence and, where there is one,
// the command that mends it. Tables, so that every row is tested.
//
// Reasons: NO_PMU, PARANOID, PERMISSION, SECCOMP, NO_PERF_EVENTS, EVENT_UNKNOWN, EVENT_NOT_ON_CPU,
// COUNTER_BUSY, GROUP_FULL, TOO_MANY_FILES, PAPI_DISABLED, PAPI_INIT, COUNTERS_LOST, NEVER_MOVES,
// IMPLAUSIBLE, COUNTER_ERROR, NOT_CALIBRATED, NO_TIME, NO_MEMORY, MIGRATED, ANCHOR_DRIFT.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/base/error.h"

namespace tinyprof {

// What perf_event_open answered for a plain hardware event, and what that means.
struct ErrnoRow {
  int error_number;
  std::string_view reason;
  std::string_view sentence;
  std::string_view fix;  // empty where no command helps
};
std::span<const ErrnoRow> ErrnoTable();

// What is known when an event is refused.
struct RefusalContext {
  int hardware_event_errno = 0;  // of a plain instructions event; 0: it opens
  std::optional<int> perf_event_paranoid;
  std::optional<int> seccomp_mode;
};

struct Refusal {
  std::string reason;    // "PARANOID"
  std::string sentence;  // "perf_event_paranoid is 3, ..."
  std::string fix;       // may be empty
  // "REASON: sentence".
  std::string ToString() const { return reason + ": " + sentence; }
};

// Why the kernel refuses plain hardware events, from what perf_event_open answered (not 0).
Refusal ExplainErrno(int error_number, const RefusalContext& context);

// "REASON: message" of an error.
std::string ReasonOf(const Error& error);

}  // namespace tinyprof
