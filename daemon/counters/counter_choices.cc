#include "daemon/counters/counter_choices.h"

#include <algorithm>
#include <array>
#include <utility>

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
    // The first formula that counts is the best one of those.
    if (verdict.quality.has_value() && !planned.usable()) {
      planned = Planned(formula, std::move(verdict));
    } else if (!planned.usable()) {
      planned.reason =
          planned.reason.empty() ? verdict.reason : MoreHelpful(planned.reason, verdict.reason);
    }
  }
  if (planned.reason.empty()) {
    planned.reason = candidates.absent_reason;
  }
  return planned;
}

// 0 is the most helpful.
int RankOf(std::string_view reason) {
  const std::string_view code = reason.substr(0, reason.find(':'));
  if (code == "EVENT_UNKNOWN") return 3;
  if (code == "EVENT_NOT_ON_CPU") return 2;
  return code == "NEVER_MOVES" || code == "IMPLAUSIBLE" || code == "NOT_CALIBRATED" ? 1 : 0;
}

// The metric as the report has it; nothing where this catalogue has no such formula.
std::optional<PlannedMetric> FindChoice(std::string_view pmu, Metric metric,
                                        const CounterReport& report) {
  const auto entry =
      std::find_if(report.metrics.begin(), report.metrics.end(),
                   [metric](const auto& candidate) { return candidate.metric == Name(metric); });
  if (entry == report.metrics.end() || (entry->usable ? !entry->quality : entry->reason.empty())) {
    return std::nullopt;
  }
  if (!entry->usable) {
    return PlannedMetric{.reason = entry->reason};
  }
  const MetricCandidates candidates = CandidatesFor(pmu, metric);
  const auto formula = std::find_if(
      candidates.formulas.begin(), candidates.formulas.end(),
      [&](const Formula& candidate) { return candidate.Describe() == entry->formula; });
  if (formula == candidates.formulas.end()) {
    return std::nullopt;
  }
  return PlannedMetric{.formula = *formula,
                       .quality = entry->quality,
                       .expected = entry->expected,
                       .measured = entry->measured,
                       .reason = entry->reason,
                       .note = entry->note};
}

}  // namespace

CounterPlan ChooseByCalibration(CounterBackend& backend, const KnownWork& work,
                                const CalibrationOptions& options) {
  CounterPlan plan;
  Calibrator calibrator(backend, work.loops, options);
  for (const Metric metric : kOrder) {
    plan.metrics[static_cast<size_t>(metric)] =
        ChooseFormula(backend.info().pmu, metric, calibrator, plan.trust);
  }
  plan.trust.elapsed_ns = calibrator.elapsed_ns();
  plan.trust.complete = calibrator.complete();
  return plan;
}

std::optional<CounterPlan> ChooseAsKnown(const BackendInfo& backend, const CounterReport& known) {
  if (!backend.unusable_reason.empty() || !known.usable || known.backend != backend.name ||
      known.pmu != backend.pmu) {
    return std::nullopt;
  }
  CounterPlan plan;
  for (const Metric metric : kMetrics) {
    std::optional<PlannedMetric> choice = FindChoice(backend.pmu, metric, known);
    if (!choice.has_value()) {
      return std::nullopt;
    }
    plan.metrics[static_cast<size_t>(metric)] = *std::move(choice);
  }
  plan.trust = known.trust;
  return plan;
}

const std::string& MoreHelpful(const std::string& first, const std::string& second) {
  return RankOf(second) < RankOf(first) ? second : first;
}

}  // namespace tinyprof
