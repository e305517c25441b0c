#include <fmt/format.h>

#include <string>

#include "daemon/counters/checks.h"
#include "daemon/counters/counter_report.h"

namespace tinyprof {
namespace {

// Calibrating found out that the event, which the kernel counts, does not count what it should.
bool FoundWrong(const CounterMetricReport& metric) {
  return metric.reason.starts_with("NEVER_MOVES: ") || metric.reason.starts_with("IMPLAUSIBLE: ");
}

// "flops, cycles (NEVER_MOVES: ...)", of the usable ones or of the others.
std::string NameWrong(const CounterReport& report, bool usable) {
  std::string names;
  std::string first_reason;
  for (const CounterMetricReport& metric : report.metrics) {
    if (metric.usable != usable || !FoundWrong(metric)) continue;
    names += (names.empty() ? "" : ", ") + metric.metric;
    if (first_reason.empty()) first_reason = metric.reason;
  }
  return names.empty() ? names : fmt::format("{} ({})", names, first_reason);
}

}  // namespace

DiagnosticCheck CheckEventsThatCount(const CounterReport& report) {
  const std::string name = "events that count";
  const std::string because =
      "the CPU, its firmware or the hypervisor does not count what the kernel believes it does; "
      "`tinyprof-client counters --calibrate` tries again";
  if (const std::string dead = NameWrong(report, false); !dead.empty()) {
    return CheckUnmendable(name, CheckState::kFail, dead,
                           "known work was not counted, so these metrics are absent from reports",
                           because);
  }
  if (const std::string wrong = NameWrong(report, true); !wrong.empty()) {
    return CheckUnmendable(name, CheckState::kWarn, wrong,
                           "known work was counted as another amount, so these metrics are suspect",
                           because);
  }
  if (!report.usable) return CheckSkipped(name, "none can be counted");
  return CheckOk(name, "known work is counted as it must be");
}

}  // namespace tinyprof
