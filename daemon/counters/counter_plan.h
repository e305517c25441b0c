// Which events a run counts, in which groups.
//
// Every metric has a formula, chosen by counting known work or known from when that was done
// (counter_choices.h). The events are then packed into groups by trying, one a pass, as many as the
// CPU takes at a time; each group begins with the anchors (cycles and instructions, where they can
// be had), by which passes are compared.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "daemon/counters/calibration/calibrate.h"
#include "daemon/counters/calibration/trust_table.h"
#include "daemon/counters/counter_backend.h"
#include "daemon/counters/counter_report.h"
#include "daemon/counters/event_catalogue.h"
#include "daemon/counters/known_work.h"
#include "daemon/counters/trust.h"

namespace tinyprof {

// Where an event is counted.
struct EventPosition {
  size_t group = 0;
  size_t index = 0;  // in the group
  friend bool operator==(const EventPosition&, const EventPosition&) = default;
};

struct PlannedMetric {
  std::optional<Formula> formula;        // absent: see reason
  std::vector<EventPosition> positions;  // of each term of the formula
  std::optional<Quality> quality;        // present with the formula
  std::optional<double> expected;        // what the first known loop should give
  std::optional<double> measured;        // what it gave
  std::string reason;                    // "CODE: sentence" when absent or suspect
  std::string note;                      // what known loops found out of the event; may be empty

  bool usable() const { return formula.has_value(); }
};

struct CounterPlan {
  std::vector<std::vector<std::string>> groups;
  // By group: where the instructions anchor is in it; absent when the group has none.
  std::vector<std::optional<size_t>> instructions_anchor;
  std::array<PlannedMetric, kMetrics.size()> metrics;  // by Metric
  std::string unusable_reason;                         // "CODE: sentence" when no metric is usable
  TrustTable trust;                                    // of every formula that was tried

  const PlannedMetric& metric(Metric m) const { return metrics[static_cast<size_t>(m)]; }
};

// Calibrates. Tries on the calling thread, as thread 0; takes a fraction of a second and no more
// than about options.budget_ns.
CounterPlan PlanCounters(CounterBackend& backend, const KnownWork& work,
                         const CalibrationOptions& options = {});

// The plan of what was chosen when `known` was found out, without counting anything anew: groups
// are tried, on the calling thread, as thread 0, which takes milliseconds. What counted then and is
// refused now is absent for the reason of now. Nothing where `known` is not of this backend, its
// PMU and this catalogue, or either of the two cannot count: PlanCounters() then says more.
std::optional<CounterPlan> PlanKnownCounters(CounterBackend& backend, const CounterReport& known);

}  // namespace tinyprof
