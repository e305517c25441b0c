#include "daemon/counters/counter_plan.h"

#include <algorithm>

#include "daemon/counters/counter_choices.h"
#include "daemon/counters/counter_errors.h"
#include "daemon/counters/try_group.h"

namespace tinyprof {
namespace {

// Packs events into groups that the backend takes.
class Packer {
 public:
  Packer(CounterBackend& backend, CounterPlan& plan) : backend_(backend), plan_(plan) {
    for (const Metric anchor : {Metric::kCycles, Metric::kInstructions}) {
      const PlannedMetric& metric = plan.metric(anchor);
      if (metric.usable() && metric.formula->terms.size() == 1) {
        anchors_.push_back(metric.formula->terms[0].event);
      }
    }
    if (!anchors_.empty() && TryGroup(backend_, anchors_).has_value()) {
      plan_.groups.push_back(anchors_);
    } else {
      anchors_.clear();
    }
  }

  // Where `event` is counted, or why it cannot be.
  Result<EventPosition> Place(const std::string& event) {
    for (size_t group = 0; group < plan_.groups.size(); ++group) {
      const auto& events = plan_.groups[group];
      const auto found = std::find(events.begin(), events.end(), event);
      if (found != events.end()) {
        return EventPosition{group, static_cast<size_t>(found - events.begin())};
      }
    }
    if (!plan_.groups.empty() && Extend(plan_.groups.back(), event).has_value()) {
      return EventPosition{plan_.groups.size() - 1, plan_.groups.back().size() - 1};
    }
    std::vector<std::string> fresh = anchors_;
    if (!Extend(fresh, event).has_value()) {
      fresh.clear();
      TINYPROF_RETURN_IF_ERROR(Extend(fresh, event));
    }
    plan_.groups.push_back(std::move(fresh));
    return EventPosition{plan_.groups.size() - 1, plan_.groups.back().size() - 1};
  }

 private:
  Status Extend(std::vector<std::string>& group, const std::string& event) {
    std::vector<std::string> longer = group;
    longer.push_back(event);
    TINYPROF_RETURN_IF_ERROR(TryGroup(backend_, longer));
    group = std::move(longer);
    return {};
  }

  CounterBackend& backend_;
  CounterPlan& plan_;
  std::vector<std::string> anchors_;
};

void PlaceTerms(Packer& packer, PlannedMetric& metric) {
  for (const Formula::Term& term : metric.formula->terms) {
    const Result<EventPosition> position = packer.Place(term.event);
    if (!position.has_value()) {
      metric = {.reason = ReasonOf(position.error())};
      return;
    }
    metric.positions.push_back(*position);
  }
}

void FindInstructionAnchors(CounterPlan& plan) {
  plan.instructions_anchor.resize(plan.groups.size());
  const PlannedMetric& instructions = plan.metric(Metric::kInstructions);
  if (!instructions.usable() || instructions.formula->terms.size() != 1) {
    return;
  }
  for (size_t group = 0; group < plan.groups.size(); ++group) {
    const auto& events = plan.groups[group];
    const auto found =
        std::find(events.begin(), events.end(), instructions.formula->terms[0].event);
    if (found != events.end()) {
      plan.instructions_anchor[group] = static_cast<size_t>(found - events.begin());
    }
  }
}

// Gives the chosen formulas their places, which makes a plan of a choice.
void Pack(CounterBackend& backend, CounterPlan& plan) {
  Packer packer(backend, plan);
  for (PlannedMetric& metric : plan.metrics) {
    if (metric.usable()) {
      PlaceTerms(packer, metric);
    }
  }
  FindInstructionAnchors(plan);
  const bool any = std::any_of(plan.metrics.begin(), plan.metrics.end(),
                               [](const PlannedMetric& metric) { return metric.usable(); });
  if (!any) {
    plan.unusable_reason =
        MoreHelpful(plan.metric(Metric::kInstructions).reason, plan.metric(Metric::kCycles).reason);
  }
}

}  // namespace

CounterPlan PlanCounters(CounterBackend& backend, const KnownWork& work,
                         const CalibrationOptions& options) {
  CounterPlan plan;
  plan.unusable_reason = backend.info().unusable_reason;
  if (!plan.unusable_reason.empty()) {
    for (PlannedMetric& metric : plan.metrics) {
      metric.reason = plan.unusable_reason;
    }
    return plan;
  }
  plan = ChooseByCalibration(backend, work, options);
  Pack(backend, plan);
  return plan;
}

std::optional<CounterPlan> PlanKnownCounters(CounterBackend& backend, const CounterReport& known) {
  std::optional<CounterPlan> plan = ChooseAsKnown(backend.info(), known);
  if (plan.has_value()) {
    Pack(backend, *plan);
  }
  return plan;
}

}  // namespace tinyprof
