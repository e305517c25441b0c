#include "daemon/measure/memory_traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "fake_memory.h"
#include "fake_workload.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr double kLine = 64;

// Passes of 1 ms and a clock that costs nothing, so that rates come out whole.
class MemoryTrafficTest : public ::testing::Test {
 protected:
  MemoryTrafficTest() {
    clock_.read_cost_ns = 0;
    workload_.on_run = [this](size_t) {
      memory_.Move(300, 100);
      if (on_pass_) {
        on_pass_();
      }
    };
  }

  Result<Quantity> Run(int64_t budget_ns = 10'000'000'000) {
    MemoryTrafficPasses passes(workload_, clock_, controllers_, options_, hooks_);
    available_ = passes.available();
    Result<Quantity> quantity = passes.Run(clock_.now_ns + budget_ns);
    pass_count_ = passes.pass_count();
    return quantity;
  }

  FakeClock clock_;
  FakeWorkload workload_{clock_, {1'000'000}};
  FakeMemory memory_{clock_};
  MemoryControllers controllers_ = memory_.controllers();
  MeasureOptions options_;
  MeasureHooks hooks_;
  std::function<void()> on_pass_;
  bool available_ = false;
  int32_t pass_count_ = 0;
};

void ExpectAbsent(const Result<Quantity>& quantity, std::string_view reason) {
  ASSERT_TRUE(quantity.has_value()) << quantity.error().message;
  EXPECT_EQ(quantity->value, std::nullopt);
  EXPECT_EQ(quantity->quality, std::nullopt);
  EXPECT_EQ(quantity->unit, "byte");
  EXPECT_THAT(quantity->reason, StartsWith(std::string(reason) + ": "));
}

TEST_F(MemoryTrafficTest, IsThatOfOnePassWithoutWhatMovesAnyway) {
  // At rest, and as much while passes run: 50 lines read and 20 written in a millisecond.
  memory_.on_sleep = [&](int) { memory_.Move(50 * 50, 50 * 20); };
  on_pass_ = [&] { memory_.Move(50, 20); };
  const Result<Quantity> quantity = Run();
  ASSERT_TRUE(quantity.has_value()) << quantity.error().message;
  EXPECT_DOUBLE_EQ(quantity->value.value_or(0), (300 + 100) * kLine);
  EXPECT_EQ(quantity->unit, "byte");
  EXPECT_EQ(quantity->source, Source::kPerfEvent);
  EXPECT_EQ(quantity->quality, Quality::kGood);
  EXPECT_THAT(quantity->reason, IsEmpty());
  EXPECT_EQ(quantity->note, "whole socket, all processes; idle baseline subtracted");
  EXPECT_EQ(quantity->formula, "memory controllers: cas_count_read + cas_count_write");
  EXPECT_EQ(memory_.slept_ns, 2 * MemoryTrafficPasses::kIdleNs);
  EXPECT_EQ(pass_count_, 400);
  EXPECT_EQ(workload_.bare_passes, 401);  // the first after the rest is not counted
  EXPECT_THAT(memory_.kernel.files, IsEmpty());
}

TEST_F(MemoryTrafficTest, ASecondPassIsAsLong) {
  // What the caches take once is not the pass's: only the first run moves it.
  on_pass_ = [&] {
    if (workload_.runs[0] == 1) {
      memory_.Move(1'000'000, 0);
    }
  };
  EXPECT_DOUBLE_EQ(Run()->value.value_or(0), 400 * kLine);
}

TEST_F(MemoryTrafficTest, ShortTimeRestsLessAndAPassLongerThanItIsMadeOnce) {
  Run(100'000'000);
  EXPECT_EQ(memory_.slept_ns, 2 * MemoryTrafficPasses::kLeastIdleNs);
  // 100 ms less two rests, and the pass that is not counted.
  EXPECT_EQ(pass_count_, 100 - 2 * 10 - 1);
  workload_.extra_ns = [](size_t, int) { return int64_t{1'000'000'000}; };
  EXPECT_DOUBLE_EQ(Run(0)->value.value_or(0), 400 * kLine);
  EXPECT_EQ(pass_count_, 1);
}

TEST_F(MemoryTrafficTest, WithoutTimeItStillRunsLongEnoughToBeSeen) {
  EXPECT_DOUBLE_EQ(Run(0)->value.value_or(0), 400 * kLine);
  EXPECT_EQ(pass_count_, 10);  // kLeastBusyNs
}

TEST_F(MemoryTrafficTest, AStandInsCountIsSimulated) {
  controllers_.source = Source::kSimulated;
  EXPECT_EQ(Run()->source, Source::kSimulated);
}

TEST_F(MemoryTrafficTest, RestThatChangesMakesTheCountSuspect) {
  // 50 lines a millisecond more after the passes than before, beside the 400 of the passes.
  memory_.on_sleep = [&](int sleep) { memory_.Move(sleep == 1 ? 0 : 50 * 50, 0); };
  on_pass_ = [&] { memory_.Move(50, 0); };
  const Result<Quantity> quantity = Run();
  ASSERT_TRUE(quantity.has_value());
  EXPECT_TRUE(quantity->value.has_value());
  EXPECT_EQ(quantity->quality, Quality::kSuspect);
  EXPECT_THAT(quantity->reason, StartsWith("NOISY_SOCKET: "));
  EXPECT_THAT(quantity->reason, HasSubstr("0 MB/s before the passes and 3.2 MB/s after"));
}

TEST_F(MemoryTrafficTest, IsAbsentWherePassesMoveLessThanRest) {
  memory_.on_sleep = [&](int) { memory_.Move(50 * 301, 0); };
  ExpectAbsent(Run(), "IMPLAUSIBLE");
}

TEST_F(MemoryTrafficTest, ACounterThatIsTakenAwayMidwayGivesNoCount) {
  on_pass_ = [&] {
    if (workload_.runs[0] == 7) {
      memory_.kernel.enabled_ns += 5;
    }
  };
  ExpectAbsent(Run(), "COUNTERS_LOST");
  EXPECT_EQ(pass_count_, 0);
  EXPECT_THAT(memory_.kernel.files, IsEmpty());
}

TEST_F(MemoryTrafficTest, WhoMayNotCountRunsNothing) {
  memory_.kernel.refused_configs = {{0x0304, EACCES}};
  const Result<Quantity> quantity = Run();
  ExpectAbsent(quantity, "PERMISSION");
  EXPECT_THAT(quantity->reason, HasSubstr("perf_event_paranoid 0 or CAP_PERFMON"));
  EXPECT_FALSE(available_);
  EXPECT_EQ(workload_.bare_passes, 0);
  EXPECT_EQ(memory_.sleeps, 0);
}

TEST_F(MemoryTrafficTest, CountersThatOthersHoldAreBusy) {
  memory_.kernel.free_counters = 0;
  ExpectAbsent(Run(), "COUNTER_BUSY");
}

TEST_F(MemoryTrafficTest, WithoutControllersThereIsNoCount) {
  controllers_ = NoMemoryControllers();
  ExpectAbsent(Run(), "NO_UNCORE");
}

TEST_F(MemoryTrafficTest, IsNotCountedUnasked) {
  options_.counters = CounterMode::kNone;
  ExpectAbsent(Run(), "NOT_ASKED");
  EXPECT_THAT(memory_.kernel.opened, IsEmpty());
}

TEST_F(MemoryTrafficTest, FlushesOfColdPassesAreNoTrafficOfThePass) {
  options_.cache = CacheMode::kCold;
  ExpectAbsent(Run(), "COLD_PASSES");
  EXPECT_EQ(workload_.bare_passes, 0);
}

TEST_F(MemoryTrafficTest, AModelWithoutLayersMovesNothing) {
  FakeWorkload empty(clock_, {});
  MemoryTrafficPasses passes(empty, clock_, controllers_, options_, hooks_);
  ExpectAbsent(passes.Run(clock_.now_ns), "NO_LAYERS");
}

TEST_F(MemoryTrafficTest, StopsSoonAfterItIsCancelled) {
  hooks_.cancelled = [&] { return workload_.bare_passes >= 3; };
  const Result<Quantity> quantity = Run();
  ASSERT_FALSE(quantity.has_value());
  EXPECT_EQ(quantity.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(workload_.bare_passes, 3);
  EXPECT_THAT(memory_.kernel.files, IsEmpty());
}

Quantity Estimate() {
  return {.value = 640,
          .unit = "byte",
          .source = Source::kPapi,
          .quality = Quality::kGood,
          .formula = "estimate: 64*L3"};
}

Quantity Missing(Source source, std::string reason) {
  return Quantity::Absent("byte", source, std::move(reason));
}

TEST(PreferSocketTraffic, TheEstimateIsForWhereSocketsDoNotCount) {
  const Quantity counted = {.value = 700, .unit = "byte", .source = Source::kPerfEvent};
  EXPECT_EQ(PreferSocketTraffic(counted, Estimate()).value, 700);
  EXPECT_EQ(PreferSocketTraffic(counted, Missing(Source::kPapi, "NO_PMU: none")).value, 700);
  const Quantity kept =
      PreferSocketTraffic(Missing(Source::kPerfEvent, "PERMISSION: no"), Estimate());
  EXPECT_EQ(kept.value, 640);
  EXPECT_EQ(kept.source, Source::kPapi);
  EXPECT_EQ(kept.quality, Quality::kGood);
  EXPECT_EQ(kept.reason, "");
  EXPECT_EQ(kept.note, "PERMISSION: no");
  EXPECT_EQ(kept.formula, "estimate: 64*L3");
}

struct ReasonRow {
  const char* sockets;
  const char* estimate;
  const char* reason;
  const char* note;
  Source source;
};

TEST(PreferSocketTraffic, TheMoreHelpfulReasonComesFirst) {
  constexpr ReasonRow kRows[] = {
      {"PERMISSION: a", "NO_PMU: b", "PERMISSION: a", "NO_PMU: b", Source::kPerfEvent},
      {"IMPLAUSIBLE: a", "COUNTERS_LOST: b", "IMPLAUSIBLE: a", "COUNTERS_LOST: b",
       Source::kPerfEvent},
      {"NO_UNCORE: a", "NO_PMU: b", "NO_PMU: b", "NO_UNCORE: a", Source::kPapi},
      {"NO_UNCORE: a", "NOT_PER_THREAD: b", "NO_UNCORE: a", "NOT_PER_THREAD: b",
       Source::kPerfEvent},
      {"COLD_PASSES: a", "NO_PMU: b", "NO_PMU: b", "COLD_PASSES: a", Source::kPapi},
      {"COLD_PASSES: a", "NOT_PER_THREAD: b", "COLD_PASSES: a", "NOT_PER_THREAD: b",
       Source::kPerfEvent},
      {"NOT_ASKED: a", "NOT_ASKED: a", "NOT_ASKED: a", "", Source::kPapi},
  };
  for (const ReasonRow& row : kRows) {
    const Quantity quantity = PreferSocketTraffic(Missing(Source::kPerfEvent, row.sockets),
                                                  Missing(Source::kPapi, row.estimate));
    EXPECT_EQ(quantity.value, std::nullopt);
    EXPECT_EQ(quantity.reason, row.reason);
    EXPECT_EQ(quantity.note, row.note);
    EXPECT_EQ(quantity.source, row.source);
  }
}

TEST(HostMemoryControllers, OpenOrSayWhyNot) {
  const MemoryControllers host = HostMemoryControllers();
  const auto memory = host.open();
  if (!memory.has_value()) {
    EXPECT_THAT(memory.error().reason,
                ::testing::AnyOf("NO_UNCORE", "PERMISSION", "SECCOMP", "COUNTER_BUSY"));
  }
  EXPECT_EQ(host.source, Source::kPerfEvent);
}

}  // namespace
}  // namespace tinyprof
