#include "daemon/counters/counter_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/try_group.h"

namespace tinyprof {
namespace {

constexpr int64_t kArithmeticIterations = 100'000;
constexpr int64_t kColdLines = 4'000;
constexpr double kCloseEnough = 0.01;  // instructions and FLOPs against the known work
constexpr double kMissFactor = 2;      // prefetchers and neighbours' lines blur misses

bool CountsMisses(Metric metric) {
  return metric == Metric::kL1dMisses || metric == Metric::kL2Misses ||
         metric == Metric::kL3Misses || metric == Metric::kDramBytes;
}

int64_t UnitsOf(Metric metric) { return CountsMisses(metric) ? kColdLines : kArithmeticIterations; }

Verdict Unusable(std::string reason) { return {.reason = std::move(reason)}; }

Verdict JudgeMisses(double lines, double measured) {
  if (measured <= 0) {
    return Unusable(
        fmt::format("NEVER_MOVES: the event counted nothing while {} lines missed", lines));
  }
  if (measured > lines * kMissFactor || measured < lines / kMissFactor) {
    return {
        Quality::kSuspect, lines,
        fmt::format("IMPLAUSIBLE: {} lines that missed every cache counted {}", lines, measured)};
  }
  return {Quality::kGood, lines, ""};
}

Verdict JudgeMemoryBytes(double lines, double measured) {
  constexpr double kLineBytes = 64;
  Verdict verdict = JudgeMisses(lines, measured / kLineBytes);
  if (verdict.expected.has_value()) {
    *verdict.expected *= kLineBytes;
  }
  return verdict;
}

// Between 16 instructions a cycle, which no core retires, and 100 cycles an instruction.
Verdict JudgeCycles(double instructions, double measured) {
  if (measured < instructions / 16 || measured > instructions * 100) {
    return Unusable(fmt::format("IMPLAUSIBLE: {} instructions took {} cycles by this event",
                                instructions, measured));
  }
  return {.quality = Quality::kGood};
}

Verdict JudgeExactWork(double expected, double measured) {
  if (measured <= 0) {
    return Unusable(
        fmt::format("NEVER_MOVES: the event counted nothing where {} are known", expected));
  }
  if (measured == expected) {
    return {Quality::kExact, expected, ""};
  }
  if (std::abs(measured - expected) <= kCloseEnough * expected) {
    return {Quality::kGood, expected, ""};
  }
  return {Quality::kSuspect, expected,
          fmt::format("IMPLAUSIBLE: work of {} counted {}", expected, measured)};
}

// The weighted sum of the terms for one dose of known work, each event counted by itself.
Result<double> CountFormula(CounterBackend& backend, const Formula& formula,
                            const std::function<void(int64_t)>& work, int64_t n) {
  double sum = 0;
  for (const Formula::Term& term : formula.terms) {
    TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> counts,
                              CountWork(backend, {&term.event, 1}, work, n));
    sum += term.weight * static_cast<double>(counts[0]);
  }
  return sum;
}

PlannedMetric ChooseFormula(CounterBackend& backend, Metric metric, const KnownWork& work) {
  const MetricCandidates candidates = CandidatesFor(backend.info().pmu, metric);
  const auto& run = CountsMisses(metric) ? work.cold_lines : work.arithmetic;
  PlannedMetric planned;
  if (!run && !candidates.formulas.empty()) {
    planned.reason =
        "NO_KNOWN_WORK: there is no work of known count for this CPU to try events with";
    return planned;
  }
  for (const Formula& formula : candidates.formulas) {
    const Result<double> measured = CountFormula(backend, formula, run, UnitsOf(metric));
    const Verdict verdict = measured.has_value()
                                ? JudgeCount(metric, work, UnitsOf(metric), *measured)
                                : Unusable(ReasonOf(measured.error()));
    if (verdict.quality.has_value()) {
      planned.formula = formula;
      planned.quality = verdict.quality;
      planned.expected = verdict.expected;
      planned.measured = *measured;
      planned.reason = verdict.reason;
      return planned;
    }
    // The first formula is the best one: what stops it is what a person wants to know.
    if (planned.reason.empty()) {
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

Verdict JudgeCount(Metric metric, const KnownWork& work, int64_t n, double measured) {
  const auto units = static_cast<double>(n);
  const double instructions = units * static_cast<double>(work.instructions_per_iteration);
  switch (metric) {
    case Metric::kFlops:
    case Metric::kFlopsSingle:
      return JudgeExactWork(units * static_cast<double>(work.flops_per_iteration), measured);
    case Metric::kInstructions:
      return JudgeExactWork(instructions, measured);
    case Metric::kCycles:
      return JudgeCycles(instructions, measured);
    case Metric::kL1dMisses:
    case Metric::kL2Misses:
    case Metric::kL3Misses:
      return JudgeMisses(units, measured);
    case Metric::kDramBytes:
      return JudgeMemoryBytes(units, measured);
    case Metric::kFlopsDouble:
    case Metric::kStallCycles:
    case Metric::kBranchMisses:
    case Metric::kDtlbMisses:
      break;
  }
  return {.quality = Quality::kSuspect,
          .reason = "NO_KNOWN_WORK: there is no work of known count to try this metric with"};
}

CounterPlan PlanCounters(CounterBackend& backend, const KnownWork& work) {
  CounterPlan plan;
  plan.unusable_reason = backend.info().unusable_reason;
  if (!plan.unusable_reason.empty()) {
    for (PlannedMetric& metric : plan.metrics) {
      metric.reason = plan.unusable_reason;
    }
    return plan;
  }
  for (const Metric metric : kMetrics) {
    plan.metrics[static_cast<size_t>(metric)] = ChooseFormula(backend, metric, work);
  }
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
