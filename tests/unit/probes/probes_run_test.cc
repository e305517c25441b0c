// The probes run and give finite, positive figures. How large they are is the benchmark's business.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/probes/bandwidth.h"
#include "kernels/probes/clock.h"
#include "kernels/probes/peak_flops.h"
#include "kernels/probes/ping_pong.h"
#include "kernels/runtime/team.h"

namespace tinyprof {
namespace {

// The reason of an error, "" for a value.
template <class T>
std::string ReasonOf(const Result<T>& result) {
  return result.has_value() ? std::string() : result.error().reason;
}

constexpr TrialBudget kTiny{.total_ns = 1'000'000, .min_trials = 2};

void ExpectPositive(const RateSummary& rates) {
  EXPECT_TRUE(std::isfinite(rates.best));
  EXPECT_GT(rates.median, 0);
  EXPECT_GE(rates.best, rates.median);
  EXPECT_GE(rates.trials, 2);
}

TEST(MeasureClock, Runs) { ExpectPositive(MeasureClock(1, kTiny)); }

TEST(MeasurePeak, RunsEveryLoopThatCounts) {
  for (const FlopLoop& loop : HostFlopLoops()) {
    if (loop.flops_per_iteration() == 0) continue;
    const PeakResult peak = MeasurePeak(loop, 1, kTiny);
    EXPECT_EQ(peak.loop, &loop);
    ExpectPositive(peak.flops_per_second);
    EXPECT_GT(peak.flops_per_cycle, 0) << loop.name;
    EXPECT_GT(peak.clock_hz, 0) << loop.name;
    EXPECT_GE(peak.latency_cycles, 1) << loop.name;
  }
}

TEST(MeasurePeak, RunsOnATeam) {
  ExpectPositive(MeasurePeak(HostFlopLoops().front(), 2, kTiny).flops_per_second);
}

TEST(BandwidthProbe, MeasuresEveryOperation) {
  auto probe = BandwidthProbe::Create(2, 10 * kWorkingSetGranule);
  ASSERT_TRUE(probe.has_value()) << probe.error().message;
  for (const MemoryLoop& loop : HostMemoryLoops()) {
    const MemoryLoop* const loops[] = {&loop};
    const auto result = probe->Measure({MemoryLevel::kL2, 10 * kWorkingSetGranule}, loops, kTiny);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_EQ(result->working_set_bytes, 2 * 10 * kWorkingSetGranule);
    EXPECT_EQ(result->level, MemoryLevel::kL2);
    EXPECT_EQ(result->op, loop.op);
    EXPECT_EQ(result->isa, loop.isa);
    ExpectPositive(result->bytes_per_second);
  }
}

TEST(BandwidthProbe, RefusesSetsThatDoNotFit) {
  auto probe = BandwidthProbe::Create(1, kWorkingSetGranule);
  ASSERT_TRUE(probe.has_value());
  const MemoryLoop* const loops[] = {
      FindMemoryLoop(HostMemoryLoops().front().isa, MemoryOp::kTriad)};
  for (const int64_t bytes : {int64_t{0}, int64_t{-1}, kWorkingSetGranule + 1, INT64_MAX}) {
    EXPECT_EQ(ReasonOf(probe->Measure({MemoryLevel::kL1, bytes}, loops, kTiny)),
              "WORKING_SET_TOO_LARGE");
  }
  EXPECT_EQ(ReasonOf(probe->Measure({MemoryLevel::kL1, 2 * kMemoryBlockBytes}, loops, kTiny)),
            "WORKING_SET_TOO_SMALL");
}

TEST(BandwidthProbe, RefusesMoreMemoryThanThereCanBe) {
  EXPECT_EQ(ReasonOf(BandwidthProbe::Create(1, INT64_MAX)), "OUT_OF_MEMORY");
  EXPECT_EQ(ReasonOf(BandwidthProbe::Create(1 << 30, INT64_MAX)), "OVERFLOW");
}

TEST(MeasurePingPong, RunsBetweenTwoCores) {
  const std::vector<int> cores = UsableCores();
  if (cores.size() < 2) GTEST_SKIP() << "this process may use one core only";
  const auto result = MeasurePingPong(cores[0], cores[1], 1000);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->batches, 10);
  EXPECT_GT(result->min_ns, 0);
  EXPECT_GE(result->median_ns, result->min_ns);
}

TEST(MeasurePingPong, RefusesWhatCannotBe) {
  EXPECT_EQ(ReasonOf(MeasurePingPong(0, 0, 1000)), "SAME_CPU");
  EXPECT_EQ(ReasonOf(MeasurePingPong(0, 1, 99)), "TOO_FEW_ROUND_TRIPS");
  EXPECT_EQ(ReasonOf(MeasurePingPong(-1, 1, 1000)), "CPU_NOT_ALLOWED");
  const int core = UsableCores().front();
  EXPECT_EQ(ReasonOf(MeasurePingPong(core, 1 << 20, 1000)), "CPU_NOT_ALLOWED");
}

}  // namespace
}  // namespace tinyprof
