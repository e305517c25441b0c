#include "daemon/measure/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "daemon/measure/counter_values.h"

namespace tinyprof {

void Doubts::Add(Doubt doubt) {
  const bool known = std::any_of(doubts_.begin(), doubts_.end(), [&](const Doubt& other) {
    return other.metric == doubt.metric && !other.layer && (other.impossible || !doubt.impossible);
  });
  if (known) return;
  if (doubt.impossible && !doubt.layer) {
    std::erase_if(doubts_, [&](const Doubt& other) { return other.metric == doubt.metric; });
  }
  doubts_.push_back(std::move(doubt));
}

bool Doubts::RuledOut(Metric metric, std::optional<size_t> layer) const {
  return std::any_of(doubts_.begin(), doubts_.end(), [&](const Doubt& doubt) {
    return doubt.metric == metric && doubt.impossible && (!doubt.layer || doubt.layer == layer);
  });
}

const Doubt* Doubts::Find(Metric metric) const {
  const auto found = std::find_if(doubts_.begin(), doubts_.end(),
                                  [&](const Doubt& doubt) { return doubt.metric == metric; });
  return found == doubts_.end() ? nullptr : &*found;
}

void Doubts::ApplyTo(std::vector<CounterValues>& layers) const {
  for (const Doubt& doubt : doubts_) {
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      Quantity& quantity = At(layers[layer], doubt.metric);
      if (!quantity.value.has_value()) continue;
      if (doubt.impossible && (!doubt.layer || doubt.layer == layer)) {
        quantity = Quantity::Absent(quantity.unit, quantity.source, doubt.reason);
      } else if (quantity.quality != Quality::kSuspect) {
        quantity.quality = Quality::kSuspect;
        quantity.reason = doubt.reason;
      }
    }
  }
}

std::string DescribeDoubts(const std::vector<Doubt>& doubts) {
  std::string text;
  std::set<size_t> told;
  for (size_t i = 0; i < doubts.size(); ++i) {
    if (told.count(i) != 0) continue;
    std::string metrics;
    for (size_t j = i; j < doubts.size(); ++j) {
      if (doubts[j].reason != doubts[i].reason || doubts[j].impossible != doubts[i].impossible) {
        continue;
      }
      told.insert(j);
      metrics += (metrics.empty() ? "" : ", ") + std::string(Name(doubts[j].metric));
    }
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : "; ", metrics,
                        doubts[i].impossible ? "left out" : "doubtful", doubts[i].reason);
  }
  return fmt::format(
      "counts that cannot be right: {}; every event is tried anew before the next run that counts, "
      "or by `tinyprof-client counters --calibrate` at once",
      text);
}

}  // namespace tinyprof
