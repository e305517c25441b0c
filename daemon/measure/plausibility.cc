#include "daemon/measure/plausibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "daemon/measure/count_limits.h"
#include "daemon/measure/counter_values.h"
#include "daemon/measure/statistics.h"

namespace tinyprof {
namespace {

// Layers whose times differ so much do not execute the same number of instructions.
constexpr double kVeryDifferent = 16;
constexpr size_t kLayersToCompare = 3;

constexpr std::array kFlopMetrics = {Metric::kFlops, Metric::kFlopsSingle, Metric::kFlopsDouble};
constexpr std::array kAnchors = {Metric::kCycles, Metric::kInstructions};

// Of one event of the plan over all layers, by pass.
std::vector<double> PassSums(const GroupSamples& group, size_t event) {
  std::vector<double> sums;
  for (const std::vector<double>& pass : group.passes) {
    double sum = 0;
    for (size_t at = event; at < pass.size(); at += group.event_count) sum += pass[at];
    sums.push_back(sum);
  }
  return sums;
}

class Inspection {
 public:
  Inspection(const CounterPlan& plan, const CounterSamples& samples, const PassFacts& facts,
             std::vector<CounterValues>& layers)
      : plan_(plan), samples_(samples), facts_(facts), layers_(layers) {}

  std::vector<Doubt> Run() {
    if (layers_.empty()) return {};
    const Stretch pass = WholePass();
    InspectStretch(pass, doubts_);
    FindEqualLayers();
    FindUnsteadyFlops(pass);
    for (size_t layer = 0; layer < layers_.size(); ++layer) InspectStretch(Layer(layer), doubts_);
    FollowAnchors(pass);
    doubts_.ApplyTo(layers_);
    return doubts_.Take();
  }

 private:
  Stretch Layer(size_t layer) const {
    Stretch stretch{.layer = layer,
                    .elapsed_ns = facts_.layer_ns[layer],
                    .work = facts_.work[layer],
                    .threads = facts_.threads,
                    .clock_hz = facts_.clock_hz};
    for (const Metric metric : kMetrics) {
      stretch.counts[static_cast<size_t>(metric)] = At(layers_[layer], metric).value;
    }
    return stretch;
  }

  // A metric has a sum when every layer has it.
  Stretch WholePass() const {
    Stretch pass{
        .elapsed_ns = facts_.pass_ns, .threads = facts_.threads, .clock_hz = facts_.clock_hz};
    pass.counts.fill(0.0);
    for (size_t i = 0; i < layers_.size(); ++i) {
      const Stretch layer = Layer(i);
      pass.work.least_flops_single += layer.work.least_flops_single;
      pass.work.least_flops_double += layer.work.least_flops_double;
      pass.work.weight_bytes += layer.work.weight_bytes;
      for (size_t metric = 0; metric < kMetrics.size(); ++metric) {
        std::optional<double>& sum = pass.counts[metric];
        const std::optional<double> count = layer.counts[metric];
        sum = sum && count ? std::optional(*sum + *count) : std::nullopt;
      }
    }
    return pass;
  }

  // A counter that moves with each read, whatever is done between them.
  void FindEqualLayers() {
    if (layers_.size() < kLayersToCompare) return;
    const auto [shortest, longest] =
        std::minmax_element(facts_.layer_ns.begin(), facts_.layer_ns.end());
    if (*longest < kVeryDifferent * *shortest) return;
    for (const Metric anchor : kAnchors) {
      const std::optional<double> first = At(layers_.front(), anchor).value;
      const bool equal = std::all_of(layers_.begin(), layers_.end(), [&](CounterValues& layer) {
        return At(layer, anchor).value == first;
      });
      if (!first || !equal || *first == 0) continue;
      Suspect(anchor, fmt::format("IMPLAUSIBLE: {:.0f} were counted in every layer, though they "
                                  "take {:.0f} to {:.0f} ns",
                                  *first, *shortest, *longest));
    }
  }

  // Passes are compared by their instructions while they are counted; FLOPs repeat as well.
  void FindUnsteadyFlops(const Stretch& pass) {
    for (const Metric metric : kFlopMetrics) {
      const PlannedMetric& planned = plan_.metric(metric);
      const std::optional<double> flops = pass.count(metric);
      for (size_t term = 0; flops && term < planned.positions.size(); ++term) {
        const EventPosition& position = planned.positions[term];
        const GroupSamples& group = samples_.groups[position.group];
        const std::vector<double> sums = PassSums(group, position.index);
        if (sums.empty() || !group.drift_reason.empty()) continue;
        const auto [low, high] = std::minmax_element(sums.begin(), sums.end());
        const double spread = (*high - *low) * std::abs(planned.formula->terms[term].weight);
        if (spread <= CounterPasses::kMaxDrift * *flops) continue;
        Suspect(metric,
                fmt::format("UNSTEADY: {} counted {:.0f} to {:.0f} in passes of the same work",
                            planned.formula->terms[term].event, *low, *high));
      }
    }
  }

  void FollowAnchors(const Stretch& pass) {
    std::vector<const Doubt*> of_group(plan_.groups.size());
    std::vector<Doubt> anchor_doubts;
    anchor_doubts.reserve(kAnchors.size() * plan_.groups.size());
    for (const Metric anchor : kAnchors) {
      const PlannedMetric& planned = plan_.metric(anchor);
      if (!planned.usable() || planned.formula->terms.size() != 1) continue;
      for (size_t group = 0; group < plan_.groups.size(); ++group) {
        const auto& events = plan_.groups[group];
        const auto found = std::find(events.begin(), events.end(), planned.formula->terms[0].event);
        if (found == events.end()) continue;
        const auto event = static_cast<size_t>(found - events.begin());
        std::optional<Doubt> doubt = DoubtOfAnchor(anchor, group, event, pass);
        if (!doubt || (of_group[group] != nullptr && of_group[group]->impossible)) continue;
        anchor_doubts.push_back(*std::move(doubt));
        of_group[group] = &anchor_doubts.back();
      }
    }
    for (const Metric metric : kMetrics) {
      for (const EventPosition& position : plan_.metric(metric).positions) {
        const Doubt* anchor = of_group[position.group];
        if (anchor != nullptr && anchor->metric != metric) FollowAnchor(metric, *anchor, pass);
      }
    }
  }

  // What speaks against the anchor in one group: that it stood still there, or the metric's own.
  std::optional<Doubt> DoubtOfAnchor(Metric anchor, size_t group, size_t event,
                                     const Stretch& pass) const {
    const std::vector<double> sums = PassSums(samples_.groups[group], event);
    if (pass.is_long() && !sums.empty() && Median(sums) == 0) {
      return Doubt{
          .metric = anchor,
          .layer = {},
          .impossible = true,
          .reason = fmt::format("STOPPED_MOVING: {} were counted as 0 beside it", Name(anchor))};
    }
    const Doubt* const own = doubts_.Find(anchor);
    if (own == nullptr) return std::nullopt;
    return Doubt{.metric = anchor,
                 .layer = {},
                 .impossible = own->impossible,
                 .reason = fmt::format(
                     "IMPLAUSIBLE: {} that cannot be right were counted beside it", Name(anchor))};
  }

  void FollowAnchor(Metric metric, const Doubt& anchor, const Stretch& pass) {
    if (doubts_.RuledOut(metric, std::nullopt)) return;
    const bool says_nothing = anchor.impossible && pass.count(metric) == 0.0;
    Add({.metric = metric, .layer = {}, .impossible = says_nothing, .reason = anchor.reason});
  }

  void Suspect(Metric metric, std::string reason) {
    Add({.metric = metric, .layer = {}, .impossible = false, .reason = std::move(reason)});
  }

  // Of a metric of which something was counted.
  void Add(Doubt doubt) {
    const bool counted = std::any_of(layers_.begin(), layers_.end(), [&](CounterValues& layer) {
      return At(layer, doubt.metric).value.has_value();
    });
    if (counted) doubts_.Add(std::move(doubt));
  }

  const CounterPlan& plan_;
  const CounterSamples& samples_;
  const PassFacts& facts_;
  std::vector<CounterValues>& layers_;
  Doubts doubts_;
};

}  // namespace

std::vector<Doubt> RemoveImplausible(const CounterPlan& plan, const CounterSamples& samples,
                                     const PassFacts& facts, std::vector<CounterValues>& layers) {
  return Inspection(plan, samples, facts, layers).Run();
}

}  // namespace tinyprof
