// What the stand-in PMU is told to be: counters, events and faults, read from a few lines of text.
//
//   counters 6                  programmable counters of each CPU (default 8)
//   held 1                      of them, held by another user: groups open but are not scheduled
//   paranoid 2                  /proc/sys/kernel/perf_event_paranoid; "absent": there is none
//   nmi_watchdog 0              /proc/sys/kernel/nmi_watchdog
//   event TYPE CONFIG COUNT     how an event counts; the first rule that matches decides
//   fail CALL WHEN HOW          what goes wrong
//
// TYPE is raw, hardware, cache or any. CONFIG is perf_event_attr.config, "C/MASK" to compare some
// bits only, or * for all. COUNT is words, in any order:
//   signal NAME[+NAME...]       declared work of the event's thread (declared_work.h), in sum
//   times K                     K of the event for each of the signals (default 1)
//   constant N                  N more each time that counting begins
//   step N                      N more at each read
//   start N                     what the counter holds when it is opened
//   wrap BITS                   the counter is this wide
//   restart N                   before the N-th read of the event its counter is set to 0
//   lose N                      at the N-th read of the event its group has lost its counters
//   cost N                      programmable counters it takes (default 1; fixed ones take 0)
//   refuse ERRNO                opening fails
// Without any of the first three the event reads 0. An event that no rule names is refused with
// ENOENT.
//
// CALL is open, enable, disable, reset or read. WHEN is N (the N-th call since the rules were
// given), or N+ (and all after). HOW is an errno's name, or for read: empty (0 bytes), short (the
// last value is missing).
// '#' begins a comment. Lines and words may be as many as the limits below.
#pragma once

#include <stdint.h>

namespace tinyprof::stand_in {

inline constexpr int kMaxEventRules = 64;
inline constexpr int kMaxFaults = 16;
inline constexpr int kAbsent = -100;  // a file that is not there

struct EventRule {
  int64_t type = -1;  // PERF_TYPE_*; -1: any
  uint64_t config = 0;
  uint64_t mask = 0;
  uint32_t signals = 0;  // by bit: 1 << WorkSignal
  int64_t times = 1;
  int64_t constant = 0;
  int64_t step = 0;
  uint64_t start = 0;
  int wrap_bits = 64;
  int64_t restart_at_read = 0;  // 0: never
  int64_t lose_at_read = 0;     // 0: never
  int cost = 1;
  int refuse_errno = 0;
};

enum class Call { kOpen, kEnable, kDisable, kReset, kRead };

enum class Outcome { kNormal, kErrno, kEmpty, kShort };

struct Fault {
  Call call = Call::kOpen;
  int64_t first = 0;
  bool repeats = false;
  Outcome outcome = Outcome::kNormal;
  int error_number = 0;
};

// Plain data, so that it can live in memory that processes share.
struct Rules {
  int counters = 8;
  int held = 0;
  int paranoid = 2;
  int nmi_watchdog = 0;
  int event_count = 0;
  EventRule events[kMaxEventRules];
  int fault_count = 0;
  Fault faults[kMaxFaults];
};

// Replaces `rules` by what `text` says. Null when all of it was understood; otherwise the first
// line that was not, in memory of the calling thread that the next call overwrites.
const char* ParseRules(const char* text, Rules& rules);

// The rule for an event, or null.
const EventRule* FindRule(const Rules& rules, uint32_t type, uint64_t config);

// What becomes of the `number`-th call (from 1).
Fault FaultOf(const Rules& rules, Call call, int64_t number);

}  // namespace tinyprof::stand_in
