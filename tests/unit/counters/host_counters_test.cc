// What the real kernel and the real PAPI of this host do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "daemon/counters/counter_report.h"
#include "daemon/counters/event_catalogue.h"
#include "daemon/counters/event_trials.h"
#include "daemon/counters/host_backend.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/perf/perf_backend.h"
#include "daemon/counters/software_events.h"
#include "daemon/counters/system_facts.h"
#include "daemon/counters/try_group.h"

namespace tinyprof {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kFaults = "perf::PAGE-FAULTS";

// Not instrumented: a sanitizer's shadow has page faults of its own.
__attribute__((noinline, no_sanitize("address", "thread"))) void TouchPages(int64_t count) {
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = static_cast<size_t>(count) * page_bytes;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t offset = 0; offset < bytes; offset += page_bytes) {
    static_cast<volatile char*>(memory)[offset] = 1;
  }
  munmap(memory, bytes);
}

// Page faults of touching `pages` fresh pages, by `backend`, on the calling thread.
Result<int64_t> CountFaults(CounterBackend& backend, int thread, int64_t pages) {
  std::vector<int64_t> before(1);
  std::vector<int64_t> after(1);
  TouchPages(1);  // the code itself is touched for the first time, too
  TINYPROF_RETURN_IF_ERROR(backend.AttachThread(thread));
  TINYPROF_RETURN_IF_ERROR(backend.OpenGroup(thread, {&kFaults, 1}));
  TINYPROF_RETURN_IF_ERROR(backend.Start(thread));
  TINYPROF_RETURN_IF_ERROR(backend.Read(thread, before));
  TouchPages(pages);
  TINYPROF_RETURN_IF_ERROR(backend.Read(thread, after));
  TINYPROF_RETURN_IF_ERROR(backend.Stop(thread));
  backend.CloseGroup(thread);
  return after[0] - before[0];
}

class SoftwareBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (OpenSoftwareEventErrno() != 0) {
      GTEST_SKIP() << "this host lets nobody count software events, errno "
                   << OpenSoftwareEventErrno();
    }
  }
};

TEST_F(SoftwareBackendTest, PageFaultsAreExact) {
  const auto backend = MakeSoftwareBackend(1);
  for (const int64_t pages : {1, 7, 1000}) {
    const Result<int64_t> faults = CountFaults(*backend, 0, pages);
    ASSERT_TRUE(faults.has_value()) << faults.error().message;
    EXPECT_EQ(*faults, pages);
  }
}

TEST_F(SoftwareBackendTest, ThreadsCountTheirOwn) {
  const auto backend = MakeSoftwareBackend(3);
  std::vector<Result<int64_t>> faults(3, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back(
        [&, t] { faults[static_cast<size_t>(t)] = CountFaults(*backend, t, 100 * (t + 1)); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (int t = 0; t < 3; ++t) {
    ASSERT_TRUE(faults[static_cast<size_t>(t)].has_value());
    EXPECT_EQ(*faults[static_cast<size_t>(t)], 100 * (t + 1));
  }
}

TEST_F(SoftwareBackendTest, AnUnknownEventIsRefusedAndLeavesNothingOpen) {
  const auto backend = MakeSoftwareBackend(1);
  const std::vector<std::string> events = {kFaults, "perf::CYCLES"};
  const Status opened = backend->OpenGroup(0, events);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().reason, "EVENT_UNKNOWN");
  EXPECT_TRUE(TryGroup(*backend, {&kFaults, 1}).has_value());
}

TEST_F(SoftwareBackendTest, SomebodyCountsPageFaultsWhateverPapiDoes) {
  const auto papi = MakePapiBackend(1);
  SoftwarePlan plan = PlanSoftwareEvents(*papi, 1);
  ASSERT_NE(plan.backend, nullptr);
  ASSERT_TRUE(plan.index[kPageFaults].has_value());
  const Result<std::vector<int64_t>> counts =
      CountWork(*plan.backend, {&kFaults, 1}, TouchPages, 50);
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ((*counts)[0], 50);
}

TEST(PapiBackend, PageFaultsAreExact) {
  const auto papi = MakePapiBackend(1);
  if (const Status tried = TryGroup(*papi, {&kFaults, 1}); !tried.has_value()) {
    GTEST_SKIP() << "PAPI counts no software events here: " << tried.error().message;
  }
  const Result<int64_t> faults = CountFaults(*papi, 0, 123);
  ASSERT_TRUE(faults.has_value());
  EXPECT_EQ(*faults, 123);
}

TEST(PapiBackend, AnUnknownEventIsRefusedWithAReason) {
  const auto papi = MakePapiBackend(1);
  const std::string event = "no_such_pmu::NO_SUCH_EVENT";
  const Status tried = TryGroup(*papi, {&event, 1});
  ASSERT_FALSE(tried.has_value());
  EXPECT_THAT(tried.error().reason, Not(IsEmpty()));
  EXPECT_THAT(tried.error().message, Not(IsEmpty()));
}

TEST(HostBackend, CountsHardwareWhereTheKernelDoesAndSaysWhyElsewhere) {
  const auto backend = MakeHostBackend(1);
  if (OpenHardwareEventErrno() == 0) {
    EXPECT_THAT(backend->info().unusable_reason, IsEmpty());
  } else {
    EXPECT_EQ(backend->info().name, "papi");
    EXPECT_THAT(backend->info().unusable_reason, Not(IsEmpty()));
  }
}

// The kernel's own answers, so that a script of them in another test is not all there is.
TEST_F(SoftwareBackendTest, AHardwareEventIsRefusedForTheReasonThatTheProbeGives) {
  const int error_number = OpenHardwareEventErrno();
  if (error_number == 0) {
    GTEST_SKIP() << "this host counts hardware events";
  }
  const SystemFacts facts = GatherFacts(SystemProbe{});
  const auto backend = MakePerfBackend({.context = ContextOf(facts)});
  const std::vector<std::string> events = {kFaults, "perf::INSTRUCTIONS"};
  const Status opened = backend->OpenGroup(0, events);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().reason, ExplainErrno(error_number, ContextOf(facts)).reason);
  EXPECT_EQ(opened.error().metadata.at("event"), "perf::INSTRUCTIONS");
}

TEST(ReportCounters, WithoutAPmuHardwareIsAbsentForThatReasonAndSoftwareCounts) {
  if (OpenHardwareEventErrno() != ENOENT) {
    GTEST_SKIP() << "this host has a PMU or refuses it: errno " << OpenHardwareEventErrno();
  }
  const auto papi = MakePapiBackend(1);
  const CounterReport report = ReportCounters(*papi);
  EXPECT_EQ(report.backend, "papi");
  EXPECT_FALSE(report.usable);
  EXPECT_THAT(report.reason, StartsWith("NO_PMU: "));
  ASSERT_EQ(report.metrics.size(), kMetrics.size() + kSoftwareEvents.size());
  for (size_t i = 0; i < kMetrics.size(); ++i) {
    EXPECT_FALSE(report.metrics[i].usable) << report.metrics[i].metric;
    EXPECT_THAT(report.metrics[i].reason, StartsWith("NO_PMU: ")) << report.metrics[i].metric;
    EXPECT_FALSE(report.metrics[i].measured.has_value());
  }
  if (OpenSoftwareEventErrno() == 0) {
    const CounterMetricReport& faults = report.metrics[kMetrics.size() + kPageFaults];
    EXPECT_EQ(faults.metric, "page_faults");
    EXPECT_EQ(faults.measured, faults.expected);
    EXPECT_EQ(faults.quality, Quality::kExact);
  }
}

}  // namespace
}  // namespace tinyprof
