#include "daemon/counters/perf/perf_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "daemon/counters/host_backend.h"
#include "daemon/counters/perf/perf_events.h"
#include "fake_perf_calls.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Numbers of the kernel's ABI: what libpfm4 4.13 encodes these names to.
TEST(GenericEvent, NamesAreThoseOfLibpfm4) {
  struct Row {
    const char* name;
    uint32_t type;
    uint64_t config;
  };
  constexpr Row kRows[] = {
      {"perf::CYCLES", 0, 0},
      {"perf::CPU-CYCLES", 0, 0},
      {"perf::INSTRUCTIONS", 0, 1},
      {"perf::CACHE-REFERENCES", 0, 2},
      {"perf::CACHE-MISSES", 0, 3},
      {"perf::BRANCH-INSTRUCTIONS", 0, 4},
      {"perf::BRANCHES", 0, 4},
      {"perf::BRANCH-MISSES", 0, 5},
      {"perf::BUS-CYCLES", 0, 6},
      {"perf::STALLED-CYCLES-FRONTEND", 0, 7},
      {"perf::STALLED-CYCLES-BACKEND", 0, 8},
      {"perf::REF-CYCLES", 0, 9},
      {"perf::CPU-CLOCK", 1, 0},
      {"perf::TASK-CLOCK", 1, 1},
      {"perf::PAGE-FAULTS", 1, 2},
      {"perf::CONTEXT-SWITCHES", 1, 3},
      {"perf::CPU-MIGRATIONS", 1, 4},
      {"perf::MINOR-FAULTS", 1, 5},
      {"perf::MAJOR-FAULTS", 1, 6},
      {"perf::L1-DCACHE-LOADS", 3, 0},
      {"perf::L1-DCACHE-LOAD-MISSES", 3, 0x10000},
      {"perf::L1-DCACHE-STORES", 3, 0x100},
      {"perf::L1-DCACHE-STORE-MISSES", 3, 0x10100},
      {"perf::L1-DCACHE-PREFETCHES", 3, 0x200},
      {"perf::L1-DCACHE-PREFETCH-MISSES", 3, 0x10200},
      {"perf::L1-ICACHE-LOAD-MISSES", 3, 0x10001},
      {"perf::LLC-LOADS", 3, 2},
      {"perf::LLC-STORE-MISSES", 3, 0x10102},
      {"perf::DTLB-LOAD-MISSES", 3, 0x10003},
      {"perf::ITLB-LOAD-MISSES", 3, 0x10004},
      {"perf::BRANCH-LOADS", 3, 5},
      {"perf::BRANCH-LOAD-MISSES", 3, 0x10005},
      {"perf::NODE-PREFETCH-MISSES", 3, 0x10206},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(GenericEvent(row.name), (RawEvent{row.type, row.config, 0})) << row.name;
  }
  for (const char* name : {"", "CYCLES", "perf::", "perf::LLC-", "perf::LLC-LOADSX", "perf::cycles",
                           "skx::CYCLES", "PAPI_TOT_CYC"}) {
    EXPECT_FALSE(GenericEvent(name).has_value()) << name;
  }
}

TEST(ResolveEvent, TheCpusNamesComeBeforeTheKernels) {
  const RawEventResolver resolve = [](std::string_view name) {
    return name == "RETIRED_FLOPS" || name == "perf::CYCLES"
               ? std::optional(RawEvent{RawEvent::kRaw, 0x1f03, 7})
               : std::nullopt;
  };
  EXPECT_EQ(ResolveEvent("RETIRED_FLOPS", resolve)->event, (RawEvent{4, 0x1f03, 7}));
  EXPECT_EQ(ResolveEvent("perf::CYCLES", resolve)->event, (RawEvent{4, 0x1f03, 7}));
  EXPECT_EQ(ResolveEvent("perf::INSTRUCTIONS", resolve)->event, (RawEvent{0, 1, 0}));
  EXPECT_FALSE(ResolveEvent("NO_SUCH", resolve).has_value());
  EXPECT_FALSE(ResolveEvent("RETIRED_FLOPS", {}).has_value());
  EXPECT_TRUE(ResolveEvent("perf::CONTEXT-SWITCHES:k=1", {})->count_kernel);
  EXPECT_FALSE(ResolveEvent("perf::CONTEXT-SWITCHES", {})->count_kernel);
}

TEST(AttributesOf, TheLeaderIsPinnedAndTheOthersFollowIt) {
  const perf_event_attr leader = AttributesOf({.event = {RawEvent::kRaw, 0x1f03, 0x42}});
  EXPECT_EQ(leader.size, sizeof(perf_event_attr));
  EXPECT_EQ(leader.type, 4U);
  EXPECT_EQ(leader.config, 0x1f03U);
  EXPECT_EQ(leader.config1, 0x42U);
  EXPECT_EQ(leader.pinned, 1U);
  EXPECT_EQ(leader.disabled, 1U);
  EXPECT_EQ(leader.exclude_kernel, 1U);
  EXPECT_EQ(leader.exclude_hv, 1U);
  EXPECT_EQ(leader.exclude_user, 0U);
  EXPECT_EQ(leader.inherit, 0U);
  EXPECT_EQ(leader.read_format, 8U | 1U | 2U);  // group, time enabled, time running
  const perf_event_attr other =
      AttributesOf({.event = {0, 1, 0}, .count_kernel = true, .leader = false});
  EXPECT_EQ(other.pinned, 0U);  // the kernel refuses it in any but the leader
  EXPECT_EQ(other.disabled, 0U);
  EXPECT_EQ(other.exclude_kernel, 0U);
}

class PerfBackendTest : public ::testing::Test {
 protected:
  std::unique_ptr<CounterBackend> Make(RefusalContext context = {}) {
    return MakePerfBackend(
        {.max_threads = 2,
         .resolve =
             [](std::string_view name) {
               return name == "FLOPS" ? std::optional(RawEvent{4, 0x1f03, 0}) : std::nullopt;
             },
         .pmu = "zen4",
         .context = std::move(context)},
        kernel_);
  }

  // The error of opening `events` on thread 0, after which nothing may be open.
  Error OpenError(CounterBackend& backend, const std::vector<std::string>& events) {
    const Status opened = backend.OpenGroup(0, events);
    EXPECT_FALSE(opened.has_value());
    EXPECT_THAT(kernel_.files, IsEmpty());
    return opened.has_value() ? Error{} : opened.error();
  }

  FakePerfCalls kernel_;
  const std::vector<std::string> three_ = {"perf::CYCLES", "perf::INSTRUCTIONS", "FLOPS"};
};

TEST_F(PerfBackendTest, AGroupCountsInTheOrderOfItsEvents) {
  kernel_.values = {{{0, 0}, 500}, {{0, 1}, 1500}, {{4, 0x1f03}, 4000}};
  const auto backend = Make();
  EXPECT_EQ(backend->info().name, "perf_event");
  EXPECT_EQ(backend->info().pmu, "zen4");
  EXPECT_THAT(backend->info().unusable_reason, IsEmpty());
  ASSERT_TRUE(backend->OpenGroup(1, three_).has_value());
  ASSERT_TRUE(backend->Start(1).has_value());
  std::vector<int64_t> values(3);
  ASSERT_TRUE(backend->Read(1, values).has_value());
  EXPECT_THAT(values, ElementsAre(500, 1500, 4000));
  ASSERT_TRUE(backend->Stop(1).has_value());
  // Of the calling thread, on any CPU, behind the leader.
  ASSERT_EQ(kernel_.opened.size(), 3U);
  const int leader_fd = kernel_.files.begin()->first;
  EXPECT_EQ(kernel_.opened[0].group_fd, -1);
  EXPECT_EQ(kernel_.opened[2].group_fd, leader_fd);
  EXPECT_EQ(kernel_.opened[2].pid, 0);
  EXPECT_EQ(kernel_.opened[2].cpu, -1);
  EXPECT_EQ(kernel_.opened[2].attributes.pinned, 0U);
  backend->CloseGroup(1);
  EXPECT_THAT(kernel_.files, IsEmpty());
  EXPECT_EQ(kernel_.closed.back(), leader_fd);
}

TEST_F(PerfBackendTest, AGroupThatIsTooLargeIsToldFromABadEvent) {
  kernel_.counters = 2;
  Error error = OpenError(*Make(), three_);
  EXPECT_EQ(error.reason, "GROUP_FULL");
  EXPECT_EQ(error.code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(error.metadata.at("event"), "FLOPS");
  kernel_.counters = 6;
  kernel_.refused_configs = {{0x1f03, EINVAL}};
  error = OpenError(*Make(), three_);
  EXPECT_EQ(error.reason, "EVENT_NOT_ON_CPU");
  EXPECT_THAT(error.message, HasSubstr("not even by itself"));
}

TEST_F(PerfBackendTest, AGroupThatOpensAndIsNeverCountedIsTooLargeOrItsCountersAreHeld) {
  kernel_.free_counters = 2;
  EXPECT_EQ(OpenError(*Make(), three_).reason, "GROUP_FULL");
  kernel_.free_counters = 0;
  const Error error = OpenError(*Make({.nmi_watchdog = 1}), three_);
  EXPECT_EQ(error.reason, "COUNTER_BUSY");
  EXPECT_EQ(error.metadata.at("event"), "perf::CYCLES");
  EXPECT_THAT(error.message, HasSubstr("sudo sysctl kernel.nmi_watchdog=0"));
}

TEST_F(PerfBackendTest, EveryRefusalOfTheKernelHasItsReason) {
  struct Row {
    int error_number;
    const char* reason;
  };
  for (const Row& row :
       {Row{ENOENT, "EVENT_NOT_ON_CPU"}, Row{ENODEV, "EVENT_NOT_ON_CPU"},
        Row{EOPNOTSUPP, "EVENT_NOT_ON_CPU"}, Row{EINVAL, "EVENT_NOT_ON_CPU"},
        Row{EACCES, "PERMISSION"}, Row{EBUSY, "COUNTER_BUSY"}, Row{EMFILE, "TOO_MANY_FILES"},
        Row{ESRCH, "THREAD_GONE"}, Row{ENOSYS, "NO_PERF_EVENTS"}, Row{EFAULT, "COUNTER_ERROR"}}) {
    kernel_.refused_configs = {{0x1f03, row.error_number}};
    EXPECT_EQ(OpenError(*Make(), three_).reason, row.reason) << row.error_number;
  }
}

TEST_F(PerfBackendTest, WithoutAPmuEveryHardwareEventIsRefusedForThat) {
  const auto backend = Make({.hardware_event_errno = ENOENT});
  EXPECT_THAT(backend->info().unusable_reason, HasSubstr("NO_PMU: "));
  kernel_.refused_configs = {{0, ENOENT}};
  EXPECT_EQ(OpenError(*backend, three_).reason, "NO_PMU");
}

// Debian's default: the level refuses software events, too.
TEST_F(PerfBackendTest, ALevelThatRefusesEverythingIsNamedForSoftwareEvents) {
  kernel_.refused_configs = {{PERF_COUNT_SW_PAGE_FAULTS, EACCES}};
  for (const bool software_only : {true, false}) {
    const auto backend = MakePerfBackend({.software_only = software_only,
                                          .context = {.hardware_event_errno = EACCES,
                                                      .perf_event_paranoid = 3,
                                                      .seccomp_mode = 2,
                                                      .effective_uid = 65534,
                                                      .effective_capabilities = 0}},
                                         kernel_);
    const Error error = OpenError(*backend, {"perf::PAGE-FAULTS"});
    EXPECT_EQ(error.reason, "PARANOID");
    EXPECT_THAT(error.message, HasSubstr("(sudo sysctl kernel.perf_event_paranoid=2)"));
  }
}

TEST_F(PerfBackendTest, RunningOutOfFilesGivesTheNumbers) {
  kernel_.file_limit = 2;
  const Error error = OpenError(*Make({.open_files_limit = 64}), three_);
  EXPECT_EQ(error.reason, "TOO_MANY_FILES");
  EXPECT_THAT(error.message, HasSubstr("2 threads x 3 events need 6"));
}

TEST_F(PerfBackendTest, NamesThatNobodyKnowsAreRefused) {
  EXPECT_EQ(OpenError(*Make(), {"perf::CYCLES", "PAPI_TOT_INS"}).reason, "EVENT_UNKNOWN");
  EXPECT_EQ(OpenError(*Make(), {}).reason, "GROUP_FULL");
  EXPECT_EQ(OpenError(*Make(), std::vector<std::string>(33, "perf::CYCLES")).reason, "GROUP_FULL");
}

// Of the third read of a started group; nothing of it may look like a count.
class LostCountersTest : public PerfBackendTest,
                         public ::testing::WithParamInterface<void (*)(FakePerfCalls&)> {};

TEST_P(LostCountersTest, AreAnErrorAndNeverAValue) {
  const auto backend = Make();
  kernel_.values = {{{0, 0}, 1}, {{0, 1}, 2}, {{4, 0x1f03}, 3}};
  ASSERT_TRUE(backend->OpenGroup(0, three_).has_value());
  ASSERT_TRUE(backend->Start(0).has_value());
  std::vector<int64_t> values(3, CounterBackend::kUntouched);
  ASSERT_TRUE(backend->Read(0, values).has_value());
  values.assign(3, CounterBackend::kUntouched);
  GetParam()(kernel_);
  const Status read = backend->Read(0, values);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().reason, "COUNTERS_LOST");
  EXPECT_EQ(read.error().code, ErrorCode::kAborted);
  EXPECT_THAT(values, ::testing::Each(CounterBackend::kUntouched));
}

INSTANTIATE_TEST_SUITE_P(Ways, LostCountersTest,
                         ::testing::Values(
                             +[](FakePerfCalls& kernel) { kernel.free_counters = 0; },
                             +[](FakePerfCalls& kernel) { kernel.short_reads = {kernel.reads}; },
                             +[](FakePerfCalls& kernel) { kernel.failing_reads = {kernel.reads}; },
                             +[](FakePerfCalls& kernel) { kernel.enabled_ns += 10; }));

TEST_F(PerfBackendTest, TimeOffTheCountersBeforeTheStartIsNoLoss) {
  kernel_.enabled_ns = 1300;
  const auto backend = Make();
  ASSERT_TRUE(backend->OpenGroup(0, three_).has_value());
  ASSERT_TRUE(backend->Start(0).has_value());
  kernel_.enabled_ns += 50;
  kernel_.running_ns += 50;
  std::vector<int64_t> values(3);
  EXPECT_TRUE(backend->Read(0, values).has_value());
}

TEST_F(PerfBackendTest, AStartOrStopThatIsRefusedIsAnError) {
  const auto backend = Make();
  ASSERT_TRUE(backend->OpenGroup(0, three_).has_value());
  kernel_.failing_control = PERF_EVENT_IOC_ENABLE;
  EXPECT_EQ(backend->Start(0).error().reason, "COUNTER_BUSY");
  kernel_.failing_control = PERF_EVENT_IOC_DISABLE;
  EXPECT_EQ(backend->Stop(0).error().reason, "COUNTERS_LOST");
  kernel_.failing_control = 0;
  kernel_.free_counters = 0;
  EXPECT_EQ(backend->Start(0).error().reason, "COUNTER_BUSY");
}

TEST_F(PerfBackendTest, GroupsThatAreOpenCloseWithTheBackend) {
  auto backend = Make();
  ASSERT_TRUE(backend->OpenGroup(0, three_).has_value());
  ASSERT_TRUE(backend->OpenGroup(1, three_).has_value());
  backend.reset();
  EXPECT_THAT(kernel_.files, IsEmpty());
}

TEST(ChooseBackend, PapiComesFirstAndTheKernelWhereOnlyPapiCannot) {
  const BackendInfo counts = {.name = "papi", .pmu = "skx"};
  const BackendInfo no_pmu = {.name = "papi", .unusable_reason = "PAPI_DISABLED: no default PMU"};
  const BackendInfo nameless = {.name = "papi"};
  EXPECT_EQ(ChooseBackend(counts, 0), BackendChoice::kPapi);
  EXPECT_EQ(ChooseBackend(no_pmu, 0), BackendChoice::kPerfEvent);
  EXPECT_EQ(ChooseBackend(nameless, 0), BackendChoice::kPerfEvent);
  EXPECT_EQ(ChooseBackend(no_pmu, ENOENT), BackendChoice::kPapi);
  EXPECT_EQ(ChooseBackend(no_pmu, EACCES), BackendChoice::kPapi);
  EXPECT_EQ(ChooseBackend(counts, ENOENT), BackendChoice::kPapi);
}

}  // namespace
}  // namespace tinyprof
