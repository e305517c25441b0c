// What speaks against counts, collected by metric, and what becomes of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/counters/event_catalogue.h"
#include "daemon/measure/measure.h"

namespace tinyprof {

struct Doubt {
  Metric metric = Metric::kFlops;
  std::optional<size_t> layer;  // absent: of all layers
  bool impossible = false;      // otherwise suspect
  std::string reason;           // "CODE: sentence"
};

class Doubts {
 public:
  // Of a metric that is in doubt as a whole, the first of the worst reasons is kept.
  void Add(Doubt doubt);
  // Whether the metric's count of a layer (absent: of the pass) cannot be.
  bool RuledOut(Metric metric, std::optional<size_t> layer) const;
  // The first that concerns the metric, or null; until the next Add().
  const Doubt* Find(Metric metric) const;
  // Takes from `layers` what is impossible, and makes the rest suspect: where one layer's count is
  // impossible, those of the others, too.
  void ApplyTo(std::vector<CounterValues>& layers) const;

  std::vector<Doubt> Take() { return std::move(doubts_); }

 private:
  std::vector<Doubt> doubts_;
};

// One warning for all of them, which names the metrics and what tries them anew. `doubts` is not
// empty.
std::string DescribeDoubts(const std::vector<Doubt>& doubts);

}  // namespace tinyprof
