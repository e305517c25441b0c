// On a Cortex-A57, for which PAPI has presets of its own: those of events that QEMU's PMU lacks
// open and read 0 without an error, and no report may take that for a count.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/counters/counter_report.h"
#include "daemon/counters/host_backend.h"
#include "daemon/counters/known_work.h"
#include "daemon/counters/try_group.h"

namespace tinyprof {
namespace {

TEST(PresetsReadZero, PapiKnowsThePmuAndTheHostsBackendIsPapi) {
  const auto host = MakeHostBackend(1);
  EXPECT_EQ(host->info().name, "papi");
  EXPECT_EQ(host->info().pmu, "arm_ac57");
  EXPECT_EQ(host->info().unusable_reason, "");
}

TEST(PresetsReadZero, APresetReadsZeroInSilence) {
  // Should this fail, the test of the report below proves nothing.
  const auto host = MakeHostBackend(1);
  const std::vector<std::string> events = {"PAPI_L1_DCM"};
  const Result<std::vector<int64_t>> counts =
      CountWork(*host, events, HostKnownWork().fresh_pages, 1'000);
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  EXPECT_EQ((*counts)[0], 0);
}

TEST(PresetsReadZero, NoMetricPassesAZeroForACount) {
  const auto host = MakeHostBackend(1);
  const CounterReport report = ReportCounters(*host);
  EXPECT_TRUE(report.usable) << report.reason;
  int never_moved = 0;
  for (const CounterMetricReport& metric : report.metrics) {
    fmt::print("  {:<17} {:<8} {} {}\n", metric.metric,
               metric.quality.has_value() ? Name(*metric.quality) : "absent", metric.formula,
               metric.reason);
    never_moved += metric.reason.starts_with("NEVER_MOVES: ") ? 1 : 0;
    if (metric.usable && metric.quality != Quality::kSuspect) {
      EXPECT_GT(metric.measured.value_or(1), 0) << metric.metric;
    } else {
      EXPECT_THAT(metric.reason, ::testing::ContainsRegex("^[A-Z_0-9]+: .+")) << metric.metric;
    }
    if (!metric.usable) {
      EXPECT_FALSE(metric.measured.has_value()) << metric.metric;
    }
  }
  EXPECT_GT(never_moved, 0);
}

}  // namespace
}  // namespace tinyprof
