#include "daemon/counters/counter_plan.h"

#include <algorithm>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/try_group.h"

namespace tinyprof {
namespace {

// Cycles come first, since stalls are judged by them.
constexpr std::array kOrder = {Metric::kCycles,       Metric::kInstructions, Metric::kFlops,
                               Metric::kFlopsSingle,  Metric::kFlopsDouble,  Metric::kL1dMisses,
                               Metric::kL2Misses,     Metric::kL3Misses,     Metric::kStallCycles,
                               Metric::kBranchMisses, Metric::kDtlbMisses,   Metric::kDramBytes};
static_assert(kOrder.size() == kMetrics.size());

PlannedMetric Planned(const Formula& formula, MetricVerdict&& verdict) {
  return {.formula = formula,
          .quality = verdict.quality,
          .expected = verdict.expected,
          .measured = verdict.measured,
          .reason = std::move(verdict.reason),
          .note = std::move(verdict.note)};
}

PlannedMetric ChooseFormula(std::string_view pmu, Metric metric, Calibrator& calibrator,
                            TrustTable& trust) {
  const MetricCandidates candidates = CandidatesFor(pmu, metric);
  PlannedMetric planned;
  for (const Formula& formula : candidates.formulas) {
    MetricVerdict verdict = calibrator.Calibrate(metric, formula);
    trust.rows.insert(trust.rows.end(), verdict.rows.begin(), verdict.rows.end());
    if (verdict.quality.has_value() && verdict.quality != Quality::kSuspect) {
      return Planned(formula, std::move(verdict));
    }
    // The first formula is the best one: what stops it is what a person wants to know.
    if (verdict.quality.has_value() && !planned.usable()) {
      planned = Planned(formula, std::move(verdict));
    } else if (planned.reason.empty()) {
      planned.reason = verdict.reason;
    }
  }
  if (planned.reason.empty()) {
    planned.reason = candidates.absent_reason;
  }
  return planned;
}

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
  Calibrator calibrator(backend, work.loops, options);
  for (const Metric metric : kOrder) {
    plan.metrics[static_cast<size_t>(metric)] =
        ChooseFormula(backend.info().pmu, metric, calibrator, plan.trust);
  }
  plan.trust.elapsed_ns = calibrator.elapsed_ns();
  plan.trust.complete = calibrator.complete();
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
    plan.unusable_reason = plan.metric(Metric::kInstructions).reason;
  }
  return plan;
}

}  // namespace tinyprof
