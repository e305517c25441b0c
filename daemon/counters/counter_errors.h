// Why an event cannot be counted: stable reasons, each with one sentence and, where there is one,
// the command that mends it. Tables, so that every row is tested.
//
// Reasons: NO_PMU, PARANOID, PERMISSION, SECCOMP, NO_PERF_EVENTS, EVENT_UNKNOWN, EVENT_NOT_ON_CPU,
// COUNTER_BUSY, GROUP_FULL, TOO_MANY_FILES, THREAD_GONE, PAPI_DISABLED, PAPI_INIT, COUNTERS_LOST,
// NEVER_MOVES, IMPLAUSIBLE, COUNTER_ERROR, PROFILER_DEFECT, NOT_CALIBRATED, NO_TIME, NO_MEMORY,
// MIGRATED, ANCHOR_DRIFT, STOPPED_MOVING, UNSTEADY, CALIBRATION_STUCK, CALIBRATION_CRASHED.
#pragma once

#include <cstddef>
#include <cstdint>
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

struct Refusal {
  std::string reason;    // "PARANOID"
  std::string sentence;  // "perf_event_paranoid is 3, ..."
  std::string fix;       // may be empty
  // "REASON: sentence".
  std::string ToString() const { return reason + ": " + sentence; }
  // "sentence (fix)".
  std::string Message() const { return fix.empty() ? sentence : sentence + " (" + fix + ")"; }
};

// What is known when an event is refused. Absent: not known.
struct RefusalContext {
  int hardware_event_errno = 0;  // of OpenHardwareEventErrno(); 0: there is a PMU
  std::optional<int> perf_event_paranoid;
  std::optional<int> seccomp_mode;
  // Whether a perf_event_open that no kernel takes is refused by the kernel; false: by something
  // before it.
  std::optional<bool> call_reaches_kernel;
  std::string container;  // "docker", "podman", "kubernetes"; empty: none is seen
  std::optional<int> effective_uid;
  std::optional<uint64_t> effective_capabilities;
  std::optional<int> nmi_watchdog;
  std::optional<int64_t> open_files_limit;
  std::optional<int64_t> system_files_limit;  // fs.file-max
  std::optional<int> threads;                 // of the team
  std::string pmu;                            // by libpfm4's name; empty: none is known
  std::string papi_version;                   // empty: PAPI was not asked
  std::string disabled_reason;                // of PAPI's perf_event component; empty: it is on
  // Why no event is opened in this process, whatever the kernel would say (events_off.h).
  std::optional<Refusal> events_off;
};

// Why the kernel refuses plain hardware events, from what perf_event_open answered (not 0).
Refusal ExplainErrno(int error_number, const RefusalContext& context);

// How an event that was refused in a group fares by itself, which tells a group that does not fit
// from an event that the CPU does not take.
enum class Alone { kNotTried, kCounts, kRefused };

// What was refused.
struct RefusedEvent {
  std::string_view name;  // empty: the whole group
  size_t group_size = 1;  // events of the group, this one included
  Alone alone = Alone::kNotTried;
};

// Why the kernel does not open one event, from the errno of that event (not 0).
Refusal ExplainEventErrno(int error_number, const RefusedEvent& event,
                          const RefusalContext& context);
// Why a pinned group cannot be put on the counters: it opens, and reading it gives 0 bytes.
Refusal ExplainStarvedGroup(const RefusedEvent& event, const RefusalContext& context);

// That a seccomp filter refuses perf_event_open or, by `what`, does worse: with the command that
// starts a container in which it may be called, where a container is seen.
Refusal SeccompRefusal(const std::string& what, const RefusalContext& context);

// The code of an error with this reason.
ErrorCode CodeOfReason(std::string_view reason);
// An error of `refusal`, with `event` and, where there is one, `fix` in its metadata. The message
// holds the fix, too.
Error ToError(const Refusal& refusal, std::string_view event);

// Open files that a team needs: one for each event of each thread, and as many again as a process
// of this kind holds otherwise.
int64_t FilesWanted(int threads, size_t events);
// A limit of open files that leaves room for `wanted` and is above the present one, which was
// reached even where it looks large enough.
int64_t FilesToAllow(std::optional<int64_t> limit, int64_t wanted);

// Lists the programs that hold perf events.
inline constexpr std::string_view kListPerfUsers =
    "sudo find /proc -maxdepth 4 -path '*/fd/*' -lname 'anon_inode:*perf_event*'";

// "REASON: message" of an error.
std::string ReasonOf(const Error& error);

}  // namespace tinyprof
