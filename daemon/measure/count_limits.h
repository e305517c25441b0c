// What one layer, or a whole pass, can have counted in the time it took. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "daemon/counters/event_catalogue.h"
#include "daemon/measure/doubts.h"
#include "daemon/measure/workload.h"

namespace tinyprof {

// A layer, or all of them, with its counts.
struct Stretch {
  std::optional<size_t> layer;  // absent: the pass
  double elapsed_ns = 0;
  LayerWork work;
  int threads = 1;
  // Of the cores while they were busy; absent: not known, or cycles that are no core's.
  std::optional<double> clock_hz;
  std::array<std::optional<double>, kMetrics.size()> counts;  // by Metric

  std::optional<double> count(Metric metric) const { return counts[static_cast<size_t>(metric)]; }
  // What reading the counters takes does not matter beside it: 5 us of a pass, 20 us of a layer.
  bool is_long() const;
  // "layer 3", "a pass".
  std::string Name() const;
};

// Adds what speaks against its counts by themselves: limits of all cores (physical_limits.h), and
// FLOPs that it cannot do without. Ratios and times are judged of long stretches only.
void InspectStretch(const Stretch& stretch, Doubts& doubts);

}  // namespace tinyprof
