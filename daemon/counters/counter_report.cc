#include "daemon/counters/counter_report.h"

#include <utility>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/counter_plan.h"
#include "daemon/counters/simulated_pmu.h"
#include "daemon/counters/software_events.h"
#include "daemon/counters/try_group.h"

namespace tinyprof {
namespace {

constexpr int64_t kPages = 64;

CounterMetricReport DescribeMetric(Metric metric, const PlannedMetric& planned) {
  CounterMetricReport report{.metric = std::string(Name(metric))};
  report.usable = planned.usable();
  report.quality = planned.quality;
  report.expected = planned.expected;
  report.measured = planned.measured;
  report.reason = planned.reason;
  if (planned.usable()) {
    report.event = planned.formula->terms[0].event;
    report.formula = planned.formula->Describe();
    report.note = planned.note.empty() ? planned.formula->note : planned.note;
  }
  return report;
}

// Page faults are the one software event with work of known count.
void CheckPageFaults(CounterBackend& backend, const KnownWork& work, CounterMetricReport& report) {
  const Result<std::vector<int64_t>> counts =
      CountWork(backend, {&report.event, 1}, work.fresh_pages, kPages);
  if (!counts.has_value()) {
    report.usable = false;
    report.quality.reset();
    report.reason = ReasonOf(counts.error());
    return;
  }
  report.expected = static_cast<double>(kPages);
  report.measured = static_cast<double>((*counts)[0]);
  report.quality = report.measured == report.expected ? Quality::kExact : Quality::kGood;
}

CounterMetricReport DescribeSoftware(size_t metric, const SoftwarePlan& plan,
                                     const KnownWork& work) {
  const SoftwareEvent& event = kSoftwareEvents[metric];
  CounterMetricReport report{.metric = std::string(event.metric)};
  report.usable = plan.index[metric].has_value();
  if (!report.usable) {
    report.reason = plan.reasons[metric];
    return report;
  }
  report.event = event.event;
  report.formula = event.event;
  report.quality = Quality::kGood;
  if (metric == kPageFaults) {
    CheckPageFaults(*plan.backend, work, report);
  } else {
    report.note = "as the kernel counts it; no work of a known count tells whether it is right";
  }
  return report;
}

}  // namespace

CounterReport UntriedReport(const Refusal& why) {
  CounterReport report{.backend = PmuIsSimulated() ? kSimulatedBackend : "papi",
                       .reason = why.ToString()};
  for (const Metric metric : kMetrics) {
    report.metrics.push_back({.metric = std::string(Name(metric)), .reason = report.reason});
  }
  for (const SoftwareEvent& event : kSoftwareEvents) {
    report.metrics.push_back({.metric = std::string(event.metric), .reason = report.reason});
  }
  return report;
}

CounterReport ReportCounters(CounterBackend& counters, const KnownWork& work,
                             const CalibrationOptions& options) {
  CounterPlan plan = PlanCounters(counters, work, options);
  CounterReport report{.backend = counters.info().name,
                       .pmu = counters.info().pmu,
                       .usable = plan.unusable_reason.empty(),
                       .reason = plan.unusable_reason};
  for (const Metric metric : kMetrics) {
    report.metrics.push_back(DescribeMetric(metric, plan.metric(metric)));
  }
  report.trust = std::move(plan.trust);
  const SoftwarePlan software = PlanSoftwareEvents(counters, 1);
  for (size_t metric = 0; metric < kSoftwareEvents.size(); ++metric) {
    report.metrics.push_back(DescribeSoftware(metric, software, work));
  }
  return report;
}

}  // namespace tinyprof
