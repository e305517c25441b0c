#include "daemon/rpc/counter_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace tinyprof {
namespace {

class CounterProbeTest : public testing::Test {
 protected:
  static worker::CountersResult Counters(bool usable) {
    worker::CountersResult result;
    result.mutable_counters()->set_usable(usable);
    result.mutable_counters()->set_reason(usable ? "" : "NO_PMU: there is no PMU");
    return result;
  }
  Logger logger_{STDERR_FILENO, LogFormat::kText, LogLevel::kError};
};

TEST_F(CounterProbeTest, ProbesOnceForManyCallers) {
  std::atomic<int> probes = 0;
  CounterProbe probe(
      [&](const CounterProbe::Abandoned&) -> Result<worker::CountersResult> {
        ++probes;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return Counters(true);
      },
      logger_);
  EXPECT_FALSE(probe.Known().has_value());
  probe.Start();
  std::vector<std::jthread> callers;
  std::atomic<int> answers = 0;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] { answers += probe.Get({}).has_value() ? 1 : 0; });
  }
  callers.clear();
  EXPECT_EQ(answers, 4);
  EXPECT_EQ(probes, 1);
  EXPECT_TRUE(probe.Known().has_value());
}

TEST_F(CounterProbeTest, GivesWhatItWasToldToKeep) {
  CounterProbe probe(
      [&](const CounterProbe::Abandoned&) -> Result<worker::CountersResult> {
        return Counters(true);
      },
      logger_);
  ASSERT_TRUE(probe.Get({})->counters().usable());
  probe.Keep(Counters(false));
  EXPECT_FALSE(probe.Get({})->counters().usable());
}

TEST_F(CounterProbeTest, TriesAgainAfterAnError) {
  int probes = 0;
  CounterProbe probe(
      [&](const CounterProbe::Abandoned&) -> Result<worker::CountersResult> {
        if (++probes == 1) return Fail(ErrorCode::kInternal, "WORKER_CRASHED", "it crashed");
        return Counters(true);
      },
      logger_);
  EXPECT_EQ(probe.Get({}).error().reason, "WORKER_CRASHED");
  EXPECT_TRUE(probe.Get({}).has_value());
  EXPECT_EQ(probes, 2);
}

TEST_F(CounterProbeTest, ANewAnswerTakesThePlaceOfTheOldOneAndAnErrorDoesNot) {
  int probes = 0;
  CounterProbe probe(
      [&](const CounterProbe::Abandoned&) -> Result<worker::CountersResult> {
        if (++probes == 3) return Fail(ErrorCode::kInternal, "WORKER_CRASHED", "it crashed");
        worker::CountersResult result = Counters(true);
        result.set_pmu(std::to_string(probes));
        return result;
      },
      logger_);
  EXPECT_EQ(probe.Get({})->pmu(), "1");
  EXPECT_EQ(probe.Renew({})->pmu(), "2");
  EXPECT_EQ(probe.Get({})->pmu(), "2");
  EXPECT_EQ(probe.Renew({}).error().reason, "WORKER_CRASHED");
  EXPECT_EQ(probe.Get({})->pmu(), "2");
  EXPECT_EQ(probes, 3);
}

TEST_F(CounterProbeTest, ACallerOfANewAnswerMayLeaveWhileAnotherProbes) {
  std::atomic<bool> probing = false;
  CounterProbe probe(
      [&](const CounterProbe::Abandoned& abandoned) -> Result<worker::CountersResult> {
        probing = true;
        while (!abandoned()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return Fail(ErrorCode::kCancelled, "CANCELLED", "abandoned");
      },
      logger_);
  probe.Start();
  while (!probing) std::this_thread::yield();
  EXPECT_EQ(probe.Renew([] { return true; }).error().code, ErrorCode::kCancelled);
}

TEST_F(CounterProbeTest, ACallerMayLeaveAndTheDaemonMayEnd) {
  CounterProbe probe(
      [&](const CounterProbe::Abandoned& abandoned) -> Result<worker::CountersResult> {
        while (!abandoned()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return Fail(ErrorCode::kCancelled, "CANCELLED", "abandoned");
      },
      logger_);
  probe.Start();
  int asked = 0;
  const auto counters = probe.Get([&] { return ++asked > 1; });
  ASSERT_FALSE(counters.has_value());
  EXPECT_EQ(counters.error().code, ErrorCode::kCancelled);
}

TEST_F(CounterProbeTest, HardwareCountersAreRequiredWithAReason) {
  EXPECT_TRUE(RequireHardwareCounters(Counters(true)).has_value());
  const Status required = RequireHardwareCounters(Counters(false));
  ASSERT_FALSE(required.has_value());
  EXPECT_EQ(required.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(required.error().reason, "COUNTERS_UNAVAILABLE");
  EXPECT_THAT(required.error().message, testing::HasSubstr("NO_PMU: there is no PMU"));
}

}  // namespace
}  // namespace tinyprof
