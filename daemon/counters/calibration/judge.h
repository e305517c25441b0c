// From counts of known loops to how far a metric is trusted. Pure: a recording of another machine
// is judged as this one's counts are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/counters/calibration/known_loop.h"
#include "daemon/counters/calibration/trust_table.h"
#include "daemon/counters/event_catalogue.h"
#include "daemon/counters/trust.h"

namespace tinyprof {

// One loop as a metric's formula counted it.
struct LoopSample {
  LoopFacts facts;
  int64_t iterations = 0;
  std::vector<double> counts;    // by repeat, each of `iterations` iterations
  std::string lost_reason;       // "CODE: sentence" when there are no counts
  std::optional<double> cycles;  // of `iterations` iterations; absent where they are not known
};

struct MetricVerdict {
  std::optional<Quality> quality;  // absent: not usable, for the reason given
  std::string reason;              // "CODE: sentence" when not usable or suspect
  // What the loops found out of the event: "an FMA counts as two operations; ...". May be empty.
  std::string note;
  FlopDefinition definition;  // that explains most loops; of FLOP metrics only
  // Of the first loop that must count something; absent when none was counted.
  std::optional<double> expected;
  std::optional<double> measured;
  std::vector<TrustRow> rows;  // one for each sample
};

// NEVER_MOVES (not usable): nothing was counted where something must be. IMPLAUSIBLE: counts are
// not what they must be, with the loops named; cycles are then not usable, other metrics suspect.
// NOT_CALIBRATED (suspect; not usable where nothing was counted): no loop says anything of the
// metric. A metric of which no loop was
// counted is not usable, for the reason of the first loop.
MetricVerdict JudgeMetric(Metric metric, const std::string& formula,
                          std::span<const LoopSample> samples);

// Judges metrics one after another and keeps the cycles of each loop for those that are judged by
// them, so cycles go first.
class MetricJudge {
 public:
  MetricVerdict Judge(Metric metric, const std::string& formula, std::vector<LoopSample> samples);

 private:
  std::map<std::string, double> cycles_;  // of a sample's iterations, by loop
};

}  // namespace tinyprof
