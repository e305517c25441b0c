// Every way in which the kernel can refuse or lose a counter, through unmodified libpapi: what
// reason comes out, and that no value does.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/counters/counter_plan.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/try_group.h"
#include "kernels/base/declared_work.h"
#include "tests/pmu/plan_at_leisure.h"
#include "tests/pmu/stand_in_script.h"

namespace tinyprof {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;

class FaultsTest : public ::testing::Test {
 protected:
  FaultsTest() {
    StandInScript(cpu_).Apply();
    backend_ = MakePapiBackend(1);
    EXPECT_TRUE(backend_->AttachThread(0).has_value());
  }

  const std::vector<std::string>& events() const { return events_; }

  // Starts the group of two events and lets both count 1000.
  void StartCounting() {
    ASSERT_TRUE(backend_->OpenGroup(0, events_).has_value());
    ASSERT_TRUE(backend_->Start(0).has_value());
    Work();
  }
  static void Work() {
    DeclareWork(WorkSignal::kInstructions, 1000);
    DeclareWork(WorkSignal::kL1dMisses, 1000);
  }

  // Reads into a buffer that holds what no counter says. A read that works must give `expected` of
  // both events; one that fails must give nothing, and say why. Returns the reason, or "".
  std::string ReadHonestly(int64_t expected) {
    std::vector<int64_t> values(events_.size(), CounterBackend::kUntouched);
    const Status read = backend_->Read(0, values);
    if (read.has_value()) {
      EXPECT_THAT(values, Each(expected));
      return "";
    }
    EXPECT_THAT(values, Each(CounterBackend::kUntouched));
    EXPECT_THAT(read.error().message, Not(IsEmpty()));
    return read.error().reason;
  }

  // After a fault, closing makes the thread ready for a group that counts.
  void ExpectRecovery() {
    backend_->CloseGroup(0);
    StandInScript(cpu_).Apply();
    StartCounting();
    EXPECT_EQ(ReadHonestly(1000), "");
    EXPECT_TRUE(backend_->Stop(0).has_value());
    backend_->CloseGroup(0);
  }

  const Cpu& cpu_ = ForcedCpu();
  std::unique_ptr<CounterBackend> backend_;
  const std::vector<std::string> events_ = {cpu_.instructions.name, cpu_.l1d_misses.name};
};

struct Refused {
  const char* errno_name;
  const char* reason;
  // When every event is refused so, which the product's own probe then sees; null: the same.
  const char* reason_of_all = nullptr;
};
// By the table of errno, PAPI's code and message; what PAPI folds into one code has one reason.
constexpr Refused kRefusals[] = {
    {"ENOENT", "EVENT_NOT_ON_CPU"},
    {"EACCES", "PERMISSION"},
    {"EPERM", "PERMISSION"},
    {"EMFILE", "TOO_MANY_FILES"},
    {"EINVAL", "EVENT_NOT_ON_CPU"},
    {"ENXIO", "EVENT_NOT_ON_CPU"},
    {"EINTR", "EVENT_NOT_ON_CPU"},
    {"EIO", "EVENT_NOT_ON_CPU"},
    {"ENODEV", "EVENT_NOT_ON_CPU"},
    {"EOPNOTSUPP", "EVENT_NOT_ON_CPU"},
    {"EBUSY", "COUNTER_BUSY"},
    {"EAGAIN", "COUNTER_BUSY"},
    {"ENOSYS", "COUNTER_BUSY", "NO_PERF_EVENTS"},
    {"ESRCH", "COUNTER_BUSY", "THREAD_GONE"},
};

TEST_F(FaultsTest, RefusedEventSaysWhyAndTheOthersStillCount) {
  for (const Refused& refused : kRefusals) {
    SCOPED_TRACE(refused.errno_name);
    StandInScript script(cpu_);
    script.Event(cpu_.l1d_misses, fmt::format("refuse {}", refused.errno_name)).Apply();
    const Status opened = backend_->OpenGroup(0, events_);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().reason, refused.reason);
    EXPECT_THAT(opened.error().message, Not(IsEmpty()));

    const CounterPlan plan = PlanAtLeisure(*backend_);
    const PlannedMetric& misses = plan.metric(Metric::kL1dMisses);
    if (misses.usable()) {
      // PAPI's preset for it may count another event of the CPU; never the refused one.
      EXPECT_NE(misses.formula->terms[0].event, cpu_.l1d_misses.name);
    } else {
      EXPECT_THAT(misses.reason, testing::StartsWith(std::string(refused.reason) + ": "));
    }
    EXPECT_EQ(plan.metric(Metric::kInstructions).measured,
              plan.metric(Metric::kInstructions).expected);
    EXPECT_EQ(plan.metric(Metric::kFlops).measured, plan.metric(Metric::kFlops).expected);
    ExpectRecovery();
  }
}

TEST_F(FaultsTest, EveryOpenFailingAfterTheStartLeavesNoMetric) {
  for (const Refused& refused : kRefusals) {
    SCOPED_TRACE(refused.errno_name);
    StandInScript(cpu_).Line(fmt::format("fail open 1+ {}", refused.errno_name)).Apply();
    const CounterPlan plan = PlanAtLeisure(*backend_);
    EXPECT_THAT(plan.unusable_reason, Not(IsEmpty()));
    const std::string reason =
        refused.reason_of_all != nullptr ? refused.reason_of_all : refused.reason;
    EXPECT_THAT(plan.metric(Metric::kL1dMisses).reason, testing::StartsWith(reason + ": "));
    for (const PlannedMetric& metric : plan.metrics) {
      EXPECT_FALSE(metric.usable());
      EXPECT_FALSE(metric.measured.has_value());
      EXPECT_THAT(metric.reason, Not(IsEmpty()));
    }
    ExpectRecovery();
  }
}

TEST_F(FaultsTest, CountersHeldByOthersRefuseTheGroup) {
  StandInScript(cpu_).Line(fmt::format("held {}", cpu_.counters)).Apply();
  const Status opened = backend_->OpenGroup(0, events_);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().reason, "COUNTER_BUSY");
  ExpectRecovery();
}

TEST_F(FaultsTest, GroupThatCannotBeEnabledGivesNoValue) {
  for (const char* error : {"EBUSY", "ENODEV", "EIO"}) {
    SCOPED_TRACE(error);
    ASSERT_TRUE(backend_->OpenGroup(0, events_).has_value());
    StandInScript(cpu_).Line(fmt::format("fail enable 1+ {}", error)).Apply();
    const Status started = backend_->Start(0);
    ASSERT_FALSE(started.has_value());
    EXPECT_EQ(started.error().reason, "COUNTER_BUSY");
    Work();
    // PAPI itself would answer OK and zeros now.
    EXPECT_EQ(ReadHonestly(1000), "COUNTERS_LOST");
    ExpectRecovery();
  }
}

TEST_F(FaultsTest, FailedReadGivesNoValue) {
  for (const char* fault : {"EIO", "EINTR", "empty", "short"}) {
    for (const char* when : {"1", "1+"}) {
      SCOPED_TRACE(fmt::format("{} {}", when, fault));
      StartCounting();
      StandInScript(cpu_).Line(fmt::format("fail read {} {}", when, fault)).Apply();
      EXPECT_EQ(ReadHonestly(1000), "COUNTERS_LOST");
      Work();
      // Once: what counted meanwhile is all there. For ever: it stays lost.
      EXPECT_EQ(ReadHonestly(2000), std::string(when) == "1" ? "" : "COUNTERS_LOST");
      ExpectRecovery();
    }
  }
}

TEST_F(FaultsTest, GroupThatLosesItsCountersStaysLost) {
  StartCounting();
  EXPECT_EQ(ReadHonestly(1000), "");
  StandInScript(cpu_).Line(fmt::format("held {}", cpu_.counters)).Apply();
  Work();
  EXPECT_EQ(ReadHonestly(2000), "COUNTERS_LOST");
  StandInScript(cpu_).Apply();  // the other user is gone, but what happened meanwhile is not known
  Work();
  EXPECT_EQ(ReadHonestly(3000), "COUNTERS_LOST");
  ExpectRecovery();
}

TEST_F(FaultsTest, FailedStopIsReportedAndHarmsNothingLater) {
  for (const char* error : {"EIO", "EINTR"}) {
    StartCounting();
    EXPECT_EQ(ReadHonestly(1000), "");
    StandInScript(cpu_).Line(fmt::format("fail disable 1 {}", error)).Apply();
    const Status stopped = backend_->Stop(0);
    ASSERT_FALSE(stopped.has_value()) << error;
    EXPECT_THAT(stopped.error().reason, Not(IsEmpty()));
    Work();
    EXPECT_EQ(ReadHonestly(2000), "COUNTERS_LOST");
    ExpectRecovery();
  }
}

TEST_F(FaultsTest, NothingIsReadBeforeStartOrAfterStop) {
  ASSERT_TRUE(backend_->OpenGroup(0, events_).has_value());
  EXPECT_EQ(ReadHonestly(0), "COUNTERS_LOST");
  ASSERT_TRUE(backend_->Start(0).has_value());
  ASSERT_TRUE(backend_->Stop(0).has_value());
  EXPECT_EQ(ReadHonestly(0), "COUNTERS_LOST");
  ExpectRecovery();
}

TEST_F(FaultsTest, CountThatWrapsOrRestartsIsLost) {
  const std::vector<std::string> event = {cpu_.l1d_misses.name};
  const std::string counted = "signal l1d_misses constant 500 ";
  // 2^48 - 1000: 500 more at the start, then the first work of 1000 passes the end.
  for (const std::string& fault :
       {counted + "wrap 48 start 0xfffffffffc18", counted + "restart 3", counted + "restart 4"}) {
    SCOPED_TRACE(fault);
    StandInScript(cpu_).Event(cpu_.l1d_misses, fault).Apply();
    const Result<std::vector<int64_t>> counts = CountWork(
        *backend_, event, [](int64_t n) { DeclareWork(WorkSignal::kL1dMisses, n); }, 1000);
    ASSERT_FALSE(counts.has_value());
    EXPECT_EQ(counts.error().reason, "COUNTERS_LOST");
  }
  ExpectRecovery();
}

TEST_F(FaultsTest, EventThatNeverMovesIsNoZero) {
  for (const CpuEvent& event : cpu_.events()) {
    SCOPED_TRACE(event.name);
    StandInScript(cpu_).Event(event, "").Apply();
    const CounterPlan plan = PlanAtLeisure(*backend_);
    for (const Metric metric : kMetrics) {
      const PlannedMetric& planned = plan.metric(metric);
      if (planned.usable()) {
        // One width of several may be still; the metric is then known to be wrong.
        EXPECT_TRUE(*planned.measured > 0 || planned.quality == Quality::kSuspect) << Name(metric);
      } else {
        EXPECT_THAT(planned.reason, Not(IsEmpty()));
      }
    }
  }
  StandInScript(cpu_).Event(cpu_.l1d_misses, "").Event(cpu_.cycles, "").Apply();
  const CounterPlan plan = PlanAtLeisure(*backend_);
  EXPECT_FALSE(plan.metric(Metric::kCycles).usable());
  EXPECT_FALSE(plan.metric(Metric::kL1dMisses).usable());
  EXPECT_THAT(plan.metric(Metric::kL1dMisses).reason, testing::StartsWith("NEVER_MOVES: "));
}

TEST_F(FaultsTest, UnknownNamesAreUnknown) {
  const Status opened = TryGroup(*backend_, std::vector<std::string>{"NO_SUCH_EVENT"});
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(opened.error().reason, testing::AnyOf("EVENT_UNKNOWN", "EVENT_NOT_ON_CPU"));
  ExpectRecovery();
}

}  // namespace
}  // namespace tinyprof
