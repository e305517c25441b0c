// Systems that do not let PAPI count: levels of perf_event_paranoid, a CPU that libpfm4 does not
// know, a PMU without an instruction counter. Each is a suite of its own, since PAPI asks once for
// a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/counter_plan.h"
#include "daemon/counters/counter_report.h"
#include "daemon/counters/diagnosis.h"
#include "daemon/counters/event_trials.h"
#include "daemon/counters/host_backend.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/try_group.h"
#include "tests/guest/spin.h"

namespace tinyprof {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Matcher = ::testing::Matcher<const std::string&>;

DiagnosticCheck CheckNamed(const std::string& name, const CounterBackend& backend) {
  SystemProbe probe;
  probe.backend = backend.info();
  for (const DiagnosticCheck& check : Diagnose(probe)) {
    if (check.name == name) {
      return check;
    }
  }
  ADD_FAILURE() << "no check named " << name;
  return {};
}

CounterMetricReport MetricNamed(const std::string& name, const CounterReport& report) {
  for (const CounterMetricReport& metric : report.metrics) {
    if (metric.metric == name) {
      return metric;
    }
  }
  ADD_FAILURE() << "no metric named " << name;
  return {};
}

void ExpectEveryHardwareMetricAbsent(CounterBackend& backend, const Matcher& reason) {
  EXPECT_THAT(backend.info().unusable_reason, reason);
  const CounterPlan plan = PlanCounters(backend, HostKnownWork());
  EXPECT_THAT(plan.unusable_reason, reason);
  EXPECT_TRUE(plan.groups.empty());
  for (const Metric metric : kMetrics) {
    EXPECT_FALSE(plan.metric(metric).usable()) << Name(metric);
    EXPECT_THAT(plan.metric(metric).reason, reason) << Name(metric);
  }
}

void ExpectPageFaultsCounted(CounterBackend& backend) {
  const CounterMetricReport faults = MetricNamed("page_faults", ReportCounters(backend));
  ASSERT_TRUE(faults.usable) << faults.reason;
  EXPECT_EQ(faults.quality, Quality::kExact);
  EXPECT_EQ(faults.measured, faults.expected);
}

constexpr std::string_view kLowerParanoid = "sudo sysctl kernel.perf_event_paranoid=2";

TEST(ParanoidUser, NoHardwareMetricAndTheLevelIsNamed) {
  const auto papi = MakePapiBackend(1);
  ExpectEveryHardwareMetricAbsent(
      *papi, AllOf(StartsWith("PARANOID: "), HasSubstr("perf_event_paranoid is 3")));
  const std::vector<std::string> events = {"INST_RETIRED"};
  EXPECT_FALSE(TryGroup(*papi, events).has_value());
}

TEST(ParanoidUser, TheDiagnosisGivesTheCommand) {
  const auto papi = MakePapiBackend(1);
  for (const char* name : {"hardware counters", "perf_event_paranoid"}) {
    const DiagnosticCheck check = CheckNamed(name, *papi);
    EXPECT_EQ(check.state, CheckState::kFail) << name;
    EXPECT_EQ(check.fix, kLowerParanoid) << name;
  }
}

TEST(ParanoidUser, SoftwareEventsAreAbsentForTheSameCause) {
  // Debian's level 3 refuses every event, software ones too.
  const auto papi = MakePapiBackend(1);
  const CounterMetricReport faults = MetricNamed("page_faults", ReportCounters(*papi));
  EXPECT_FALSE(faults.usable);
  EXPECT_FALSE(faults.measured.has_value());
  EXPECT_THAT(faults.reason,
              AllOf(StartsWith("PARANOID: "), HasSubstr(std::string(kLowerParanoid))));
}

TEST(ParanoidUser, TheHostsBackendSaysTheSame) {
  ExpectEveryHardwareMetricAbsent(
      *MakeHostBackend(1), AllOf(StartsWith("PARANOID: "), HasSubstr("perf_event_paranoid is 3")));
}

TEST(ParanoidRoot, PapiIsOffThoughTheKernelLetsRootCount) {
  ASSERT_EQ(OpenHardwareEventErrno(), 0);
  const auto papi = MakePapiBackend(1);
  ExpectEveryHardwareMetricAbsent(*papi,
                                  AllOf(StartsWith("PAPI_DISABLED: "), HasSubstr("paranoid=3")));
  EXPECT_EQ(CheckNamed("perf_event_paranoid", *papi).fix, kLowerParanoid);
}

TEST(ParanoidRoot, SoftwareEventsAreCountedWithoutPapi) {
  ExpectPageFaultsCounted(*MakePapiBackend(1));
}

TEST(UnknownCpu, PapiHasNoPmuThoughTheKernelCounts) {
  ASSERT_EQ(OpenHardwareEventErrno(), 0);
  const auto papi = MakePapiBackend(1);
  EXPECT_EQ(papi->info().pmu, "");
  ExpectEveryHardwareMetricAbsent(
      *papi, AllOf(StartsWith("PAPI_DISABLED: "), HasSubstr("no default PMU found")));
  const DiagnosticCheck check = CheckNamed("PAPI", *papi);
  EXPECT_EQ(check.state, CheckState::kFail);
  EXPECT_THAT(check.found, HasSubstr("no default PMU found"));
}

TEST(UnknownCpu, SoftwareEventsAreCountedWithoutPapi) {
  ExpectPageFaultsCounted(*MakePapiBackend(1));
}

TEST(UnknownCpu, TheHostsBackendCountsExactlyWithoutPapi) {
  const auto host = MakeHostBackend(1);
  EXPECT_EQ(host->info().name, "perf_event");
  EXPECT_EQ(host->info().unusable_reason, "");
  const std::vector<std::string> events = {"perf::INSTRUCTIONS", "perf::CYCLES"};
  for (const int64_t turns : {1, 1'000, 1'000'000}) {
    const Result<std::vector<int64_t>> counts = CountWork(*host, events, Spin, turns);
    ASSERT_TRUE(counts.has_value()) << ReasonOf(counts.error());
    EXPECT_EQ((*counts)[0], kInstructionsPerTurn * turns);
  }
}

TEST(UnknownCpu, ThePlanOfTheHostsBackendSaysWhyNotOrCounts) {
  const auto host = MakeHostBackend(1);
  const CounterReport report = ReportCounters(*host);
  EXPECT_EQ(report.backend, "perf_event");
  EXPECT_TRUE(report.usable) << report.reason;
  const CounterMetricReport instructions = MetricNamed("instructions", report);
  EXPECT_EQ(instructions.quality, Quality::kExact) << instructions.reason;
  EXPECT_EQ(instructions.measured, instructions.expected);
  EXPECT_TRUE(MetricNamed("cycles", report).usable);
  for (const char* name : {"flops", "l1d_misses", "l2_misses", "l3_misses"}) {
    const CounterMetricReport metric = MetricNamed(name, report);
    EXPECT_FALSE(metric.usable) << name;
    EXPECT_FALSE(metric.measured.has_value()) << name;
    EXPECT_THAT(metric.reason, ::testing::ContainsRegex("^[A-Z_0-9]+: .+")) << name;
  }
  ExpectPageFaultsCounted(*host);
}

TEST(NoInstructionCounter, TheEventOpensAndReadsZeroInSilence) {
  const auto papi = MakePapiBackend(1);
  const std::vector<std::string> events = {"INST_RETIRED"};
  const Result<std::vector<int64_t>> counts = CountWork(*papi, events, Spin, 100'000);
  ASSERT_TRUE(counts.has_value()) << ReasonOf(counts.error());
  EXPECT_EQ((*counts)[0], 0);
}

TEST(NoInstructionCounter, InstructionsAreAbsentWithAReason) {
  const auto papi = MakePapiBackend(1);
  const CounterMetricReport instructions = MetricNamed("instructions", ReportCounters(*papi));
  EXPECT_FALSE(instructions.usable);
  EXPECT_FALSE(instructions.measured.has_value());
  EXPECT_NE(instructions.reason, "");
  const std::vector<std::string> generic = {"perf::INSTRUCTIONS"};
  const Status refused = TryGroup(*papi, generic);
  EXPECT_FALSE(refused.has_value());
}

}  // namespace
}  // namespace tinyprof
