// Runs where a PMU exists and skips, with the reason, where none does. Prints the trust table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daemon/counters/counter_report.h"
#include "daemon/counters/papi/papi_backend.h"

namespace tinyprof {
namespace {

void PrintTrustTable(const CounterReport& report) {
  for (const CounterMetricReport& m : report.metrics) {
    fmt::print("{:<18} {:<8} expected {:<12} measured {:<12} {} {}\n", m.metric,
               m.quality.has_value() ? Name(*m.quality) : "absent",
               m.expected.has_value() ? fmt::format("{}", *m.expected) : "-",
               m.measured.has_value() ? fmt::format("{}", *m.measured) : "-", m.formula, m.reason);
  }
}

TEST(HardwareCounters, InstructionsAndCyclesCountKnownWork) {
  const auto papi = MakePapiBackend(1);
  const CounterReport report = ReportCounters(*papi);
  PrintTrustTable(report);
  if (!report.usable) {
    GTEST_SKIP() << report.reason;
  }
  for (const CounterMetricReport& metric : report.metrics) {
    if (metric.metric == "instructions") {
      ASSERT_TRUE(metric.usable) << metric.reason;
      EXPECT_NEAR(*metric.measured, *metric.expected, 0.01 * *metric.expected);
    }
    if (metric.metric == "cycles") {
      EXPECT_TRUE(metric.usable) << metric.reason;
    }
    if (metric.metric == "flops" && metric.usable) {
      EXPECT_NEAR(*metric.measured, *metric.expected, 0.01 * *metric.expected);
    }
  }
}

}  // namespace
}  // namespace tinyprof
