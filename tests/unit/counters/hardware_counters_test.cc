// Runs where a PMU exists and skips, with the reason, where none does. Prints the trust table, and
// writes what was counted to the file that TINYPROF_RECORD_COUNTERS names.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>

#include "daemon/counters/calibration/count_loops.h"
#include "daemon/counters/calibration/expectations.h"
#include "daemon/counters/calibration/recording.h"
#include "daemon/counters/counter_plan.h"
#include "daemon/counters/papi/papi_backend.h"

namespace tinyprof {
namespace {

void PrintTrustTable(const TrustTable& trust) {
  for (const TrustRow& row : trust.rows) {
    fmt::print("{:<14} {:<27} {:<7} expected {:<24} measured {:<12} {}\n", row.metric, row.loop,
               row.quality.has_value() ? Name(*row.quality) : "-",
               row.expected.has_value()
                   ? fmt::format("{:.0f}..{:.0f}", row.expected->low, row.expected->high)
                   : "-",
               row.measured.has_value() ? fmt::format("{}", *row.measured) : "-", row.reason);
  }
  fmt::print("{:.1f} ms{}\n", trust.elapsed_ns / 1e6, trust.complete ? "" : ", incomplete");
}

// The value of the first "name : value" line of /proc/cpuinfo.
std::string CpuInfo(std::string_view name) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(": ");
    if (line.starts_with(name) && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

Recording Record(CounterBackend& backend, const CounterPlan& plan, const KnownWork& work) {
  utsname system{};
  uname(&system);
  Recording recording{.cpu = CpuInfo("model name"),
                      .microcode = CpuInfo("microcode"),
                      .kernel = system.release,
                      .pmu = backend.info().pmu};
  const CountingBudget budget{.now_ns = [] { return int64_t{0}; }, .deadline_ns = 1};
  std::vector<Metric> metrics(kMetrics.begin(), kMetrics.end());
  std::swap(metrics[static_cast<size_t>(Metric::kCycles)], metrics[0]);
  for (const Metric metric : metrics) {
    std::vector<const KnownLoop*> loops;
    for (const KnownLoop& loop : work.loops) {
      if (Concerns(metric, loop.facts)) {
        loops.push_back(&loop);
      }
    }
    if (const auto& formula = plan.metric(metric).formula; formula.has_value()) {
      Result<std::vector<LoopSample>> samples = CountLoops(backend, *formula, loops, budget);
      EXPECT_TRUE(samples.has_value()) << Name(metric);
      recording.metrics.push_back({metric, formula->ToString(), *std::move(samples)});
    }
  }
  return recording;
}

class HardwareCounters : public ::testing::Test {
 protected:
  void SetUp() override {
    plan = PlanCounters(*backend, work);
    if (!plan.unusable_reason.empty()) {
      GTEST_SKIP() << plan.unusable_reason;
    }
  }

  std::unique_ptr<CounterBackend> backend = MakePapiBackend(1);
  KnownWork work = HostKnownWork();
  CounterPlan plan;
};

TEST_F(HardwareCounters, InstructionsAndCyclesCountKnownWork) {
  PrintTrustTable(plan.trust);
  EXPECT_LE(plan.metric(Metric::kInstructions).quality, Quality::kGood)
      << plan.metric(Metric::kInstructions).reason;
  EXPECT_TRUE(plan.metric(Metric::kInstructions).usable());
  EXPECT_TRUE(plan.metric(Metric::kCycles).usable()) << plan.metric(Metric::kCycles).reason;
}

TEST_F(HardwareCounters, WhatIsNotRightIsSuspectOrAbsentWithAReason) {
  for (const Metric metric : kMetrics) {
    const PlannedMetric& planned = plan.metric(metric);
    fmt::print("{:<14} {:<8} {} {} {}\n", Name(metric),
               planned.quality.has_value() ? Name(*planned.quality) : "absent",
               planned.usable() ? planned.formula->ToString() : "", planned.note, planned.reason);
    EXPECT_EQ(planned.reason.empty(), planned.usable() && planned.quality != Quality::kSuspect)
        << Name(metric);
  }
}

TEST_F(HardwareCounters, ARecordingIsJudgedAsTheCountsWere) {
  const Recording recording = Record(*backend, plan, work);
  const std::string text = FormatRecording(recording);
  const Result<Recording> parsed = ParseRecording(text);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(FormatRecording(*parsed), text);
  if (const char* const path = std::getenv("TINYPROF_RECORD_COUNTERS"); path != nullptr) {
    std::ofstream(path) << text;
    fmt::print("recorded to {}\n", path);
  }
}

}  // namespace
}  // namespace tinyprof
