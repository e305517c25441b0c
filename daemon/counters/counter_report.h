// What this host can count: every metric, the events behind it, and how it did on work of known
// count.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/counters/calibration/calibrate.h"
#include "daemon/counters/calibration/trust_table.h"
#include "daemon/counters/counter_backend.h"
#include "daemon/counters/counter_errors.h"
#include "daemon/counters/known_work.h"
#include "daemon/counters/trust.h"

namespace tinyprof {

struct CounterMetricReport {
  std::string metric;   // "flops", "cycles", ..., "task_clock", ...
  std::string event;    // the first event of the formula; empty when none could be found
  std::string formula;  // "4*A + 8*B"; empty when none could be found
  bool usable = false;
  std::optional<Quality> quality;  // absent when not usable
  std::optional<double> expected;  // what the known work should give; absent where nothing is known
  std::optional<double> measured;  // what it gave; absent when not usable
  std::string reason;              // "CODE: sentence" when not usable or suspect
  // What to know when reading the count: found out by known loops or, where they found nothing,
  // from the event catalogue. May be empty.
  std::string note;
};

struct CounterReport {
  std::string backend;                       // as the next one, by BackendInfo
  std::string pmu;                           // whose events the formulas are of
  bool usable = false;                       // hardware events can be counted
  std::string reason;                        // "CODE: sentence" when not usable
  std::vector<CounterMetricReport> metrics;  // hardware first, then software
  TrustTable trust;                          // empty when no hardware event can be counted
};

// Of a host on which nothing was tried, for this reason.
CounterReport UntriedReport(const Refusal& why);

// Tries every metric by counting `work` on the calling thread, which takes a fraction of a second.
// `counters` is used as thread 0. Software events come from `counters` or, where it has none, from
// the kernel directly.
CounterReport ReportCounters(CounterBackend& counters, const KnownWork& work = HostKnownWork(),
                             const CalibrationOptions& options = {});

}  // namespace tinyprof
