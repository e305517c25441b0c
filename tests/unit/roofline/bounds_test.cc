#include "daemon/roofline/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace tinyprof {
namespace {

// The reason of an error, "" for a value.
template <class T>
std::string ReasonOf(const Result<T>& result) {
  return result.has_value() ? std::string() : result.error().reason;
}

constexpr double kGiga = 1e9;

// 1000 GFLOP/s; L1 48 KiB 2000 GB/s, L2 2 MiB 1000 GB/s, L3 32 MiB 400 GB/s, DRAM 200 GB/s.
Ceilings Machine() {
  return {.peak_flops_per_second = 1000 * kGiga,
          .levels = {{MemoryLevel::kL1, 2000 * kGiga, 48 << 10},
                     {MemoryLevel::kL2, 1000 * kGiga, 2 << 20},
                     {MemoryLevel::kL3, 400 * kGiga, 32 << 20},
                     {MemoryLevel::kDram, 200 * kGiga, std::nullopt}}};
}

BoundInput Cold(int64_t flops, int64_t bytes, std::optional<double> elapsed_ns = std::nullopt) {
  return {.flop_count = flops, .byte_count = bytes, .cold_bytes = bytes, .elapsed_ns = elapsed_ns};
}

Bound MustBound(const BoundInput& input, const Ceilings& ceilings = Machine()) {
  const Result<Bound> bound = ComputeBound(input, ceilings);
  EXPECT_TRUE(bound.has_value()) << bound.error().message;
  return bound.value_or(Bound{});
}

TEST(RidgePoint, PeakOverBandwidth) { EXPECT_DOUBLE_EQ(RidgePoint(1000 * kGiga, 200 * kGiga), 5); }

TEST(ComputeBound, BelowTheRidgeBandwidthBounds) {
  // Intensity 2 under a ridge of 5: 2 * 200 GB/s = 400 GFLOP/s.
  const Bound bound = MustBound(Cold(200'000'000, 100'000'000));
  EXPECT_DOUBLE_EQ(*bound.flops_per_second, 400 * kGiga);
  EXPECT_DOUBLE_EQ(bound.bound_ns, 500'000);
  EXPECT_DOUBLE_EQ(*bound.ridge_margin, 0.4);
  EXPECT_EQ(bound.limiter, Limiter::kDram);
  EXPECT_EQ(bound.label, BoundLabel::kMemory);
  EXPECT_FALSE(bound.percent_of_bound.has_value());
}

TEST(ComputeBound, AboveTheRidgePeakBounds) {
  const Bound bound = MustBound(Cold(2'000'000'000, 100'000'000, 4'000'000));
  EXPECT_DOUBLE_EQ(*bound.flops_per_second, 1000 * kGiga);
  EXPECT_DOUBLE_EQ(*bound.ridge_margin, 4);
  EXPECT_DOUBLE_EQ(*bound.percent_of_bound, 50);
  EXPECT_EQ(bound.limiter, Limiter::kCompute);
  EXPECT_EQ(bound.label, BoundLabel::kCompute);
  EXPECT_TRUE(bound.warning.empty());
}

TEST(ComputeBound, LinearOf1000By500AtBatch32IsMemoryBoundAtRidge15) {
  const Ceilings ceilings{.peak_flops_per_second = 1500 * kGiga,
                          .levels = {{MemoryLevel::kDram, 100 * kGiga, std::nullopt}}};
  const Bound bound = MustBound(Cold(32'016'000, 2'194'000), ceilings);
  EXPECT_NEAR(*bound.ridge_margin, 14.59 / 15, 1e-3);
  EXPECT_EQ(bound.label, BoundLabel::kMemory);
  EXPECT_NEAR(*bound.flops_per_second / kGiga, 1459.2525, 1e-3);
}

TEST(ComputeBound, OnTheRidgeIsCompute) {
  const Bound bound = MustBound(Cold(500'000'000, 100'000'000));
  EXPECT_DOUBLE_EQ(*bound.ridge_margin, 1);
  EXPECT_EQ(bound.label, BoundLabel::kCompute);
}

TEST(ComputeBound, EveryLevelHasItsOwnBound) {
  const Bound bound = MustBound(Cold(50'000'000, 100'000'000));  // intensity 0.5
  ASSERT_EQ(bound.levels.size(), 4u);
  EXPECT_DOUBLE_EQ(bound.levels[0].flops_per_second, 1000 * kGiga);
  EXPECT_DOUBLE_EQ(bound.levels[1].flops_per_second, 500 * kGiga);
  EXPECT_DOUBLE_EQ(bound.levels[2].flops_per_second, 200 * kGiga);
  EXPECT_DOUBLE_EQ(bound.levels[3].flops_per_second, 100 * kGiga);
}

Bound WarmBound(int64_t bytes) { return MustBound({.byte_count = bytes}); }

TEST(ComputeBound, WarmDataComesFromTheInnermostLevelThatHoldsIt) {
  EXPECT_EQ(WarmBound(48 << 10).level, MemoryLevel::kL1);
  EXPECT_EQ(WarmBound(2 << 20).level, MemoryLevel::kL2);
  // All but L1's 48 KiB at 1000 GB/s, 1000 bytes a ns.
  EXPECT_DOUBLE_EQ(WarmBound(1 << 20).memory_ns, ((1 << 20) - (48 << 10)) / 1e3);
  EXPECT_EQ(WarmBound(32 << 20).level, MemoryLevel::kL3);
  EXPECT_EQ(WarmBound(int64_t{1} << 30).level, MemoryLevel::kDram);
  EXPECT_EQ(MustBound(Cold(0, 1000)).level, MemoryLevel::kDram);
}

TEST(ComputeBound, WhatWasFlushedComesFromDramAndTheRestFromWhereItWasWritten) {
  // L3 holds 31 MB of activations, of which L2 can have held 2 MiB, and passes 1 MB of weights on:
  // that takes longer than the weights from DRAM.
  const Bound large = MustBound({.byte_count = 32'000'000, .cold_bytes = 1'000'000});
  EXPECT_EQ(large.level, MemoryLevel::kL3);
  EXPECT_NEAR(large.memory_ns, (1e6 + 31e6 * (1 - (2 << 20) / 32e6)) / 400, 1e-6);
  // Of 1.1 MB in all, the same weights take longest by far.
  const Bound small = MustBound({.byte_count = 1'100'000, .cold_bytes = 1'000'000});
  EXPECT_EQ(small.level, MemoryLevel::kDram);
  EXPECT_DOUBLE_EQ(small.memory_ns, 5'000);
}

TEST(ComputeBound, WhatACacheCanHaveHeldIsNotAskedOfTheNextLevel) {
  // Of 3 MiB, L1 can have held 48 KiB and L2 2 MiB: 2.95 MiB at 1000 GB/s take longer than 1 MiB
  // at 400.
  EXPECT_EQ(WarmBound(3 << 20).level, MemoryLevel::kL2);
  EXPECT_DOUBLE_EQ(WarmBound(3 << 20).memory_ns, ((3 << 20) - (48 << 10)) / 1e3);
  // Of 4 MiB, 2 come from L3, at 400 bytes a ns.
  EXPECT_EQ(WarmBound(4 << 20).level, MemoryLevel::kL3);
  EXPECT_DOUBLE_EQ(WarmBound(4 << 20).memory_ns, (2 << 20) / 400.0);
}

// As Machine(), and its sets that are read again: 4 MiB at 400 GB/s, 16 MiB at 100.
Ceilings MachineWithStreams() {
  Ceilings ceilings = Machine();
  ceilings.streams = {{1, 4 << 20, 400 * kGiga}, {1, 16 << 20, 100 * kGiga}};
  return ceilings;
}
Bound StreamedBound(int64_t bytes, int64_t streamed_bytes, int64_t pass_bytes) {
  return MustBound(
      {.byte_count = bytes, .streamed_bytes = streamed_bytes, .pass_bytes = pass_bytes},
      MachineWithStreams());
}

TEST(ComputeBound, WeightsComeAsFastAsTheSetOfAWholePass) {
  // 1 MB of a pass of 4 MiB at 400 bytes a ns; the layer itself fits L2.
  const Bound held = StreamedBound(1'000'000, 1'000'000, 4 << 20);
  EXPECT_DOUBLE_EQ(held.memory_ns, 2'500);
  EXPECT_EQ(held.level, MemoryLevel::kL3);
  // Twice the set at half of the rate, four times at a quarter, and any larger one as that.
  EXPECT_NEAR(StreamedBound(1'000'000, 1'000'000, 8 << 20).memory_ns, 5'000, 1e-6);
  EXPECT_EQ(StreamedBound(1'000'000, 1'000'000, 8 << 20).level, MemoryLevel::kDram);
  EXPECT_DOUBLE_EQ(StreamedBound(1'000'000, 1'000'000, 16 << 20).memory_ns, 10'000);
  EXPECT_DOUBLE_EQ(StreamedBound(1'000'000, 1'000'000, int64_t{1} << 40).memory_ns, 10'000);
  // A smaller one as its own level serves it.
  EXPECT_DOUBLE_EQ(StreamedBound(1'000'000, 1'000'000, 1'000'000).memory_ns,
                   (1'000'000 - (48 << 10)) / 1e3);
}

TEST(ComputeBound, OfALayerOnlyTheWeightsAreStreamed) {
  // 100 kB of them take 1 us; 1 MB in all, but for L1's 48 KiB, 0.95 us.
  EXPECT_DOUBLE_EQ(StreamedBound(1'000'000, 100'000, 16 << 20).memory_ns, 1'000);
  const Bound mostly_activations = StreamedBound(1'000'000, 10'000, 16 << 20);
  EXPECT_DOUBLE_EQ(mostly_activations.memory_ns, (1'000'000 - (48 << 10)) / 1e3);
  EXPECT_EQ(mostly_activations.level, MemoryLevel::kL2);
}

TEST(ComputeBound, TheBoundDoesNotJumpWhereACacheOverflows) {
  EXPECT_NEAR(WarmBound((48 << 10) + 1).bound_ns, WarmBound(48 << 10).bound_ns, 30);
  EXPECT_NEAR(WarmBound((2 << 20) + 1).bound_ns, WarmBound(2 << 20).bound_ns, 30);
}

TEST(ComputeBound, NoFlopsIsBoundByBytes) {
  // 20 MB at 200 GB/s take 100 us; measured 400 us.
  const Bound bound = MustBound(Cold(0, 20'000'000, 400'000));
  EXPECT_FALSE(bound.flops_per_second.has_value());
  EXPECT_TRUE(bound.levels.empty());
  EXPECT_DOUBLE_EQ(bound.bound_ns, 100'000);
  EXPECT_DOUBLE_EQ(*bound.percent_of_bound, 25);
  EXPECT_DOUBLE_EQ(*bound.ridge_margin, 0);
  EXPECT_EQ(bound.label, BoundLabel::kMemory);
}

TEST(ComputeBound, NoBytesIsBoundByPeak) {
  const Bound bound = MustBound(Cold(1'000'000'000, 0));
  EXPECT_DOUBLE_EQ(*bound.flops_per_second, 1000 * kGiga);
  EXPECT_FALSE(bound.ridge_margin.has_value());
  EXPECT_EQ(bound.label, BoundLabel::kCompute);
}

TEST(ComputeBound, NeitherIsOverhead) {
  const Bound bound = MustBound(Cold(0, 0, 500));
  EXPECT_EQ(bound.label, BoundLabel::kOverhead);
  EXPECT_EQ(bound.limiter, Limiter::kOverhead);
  EXPECT_FALSE(bound.percent_of_bound.has_value());
  EXPECT_FALSE(bound.flops_per_second.has_value());
}

// 1,000,000 FLOPs at peak take 1 us.
BoundInput Started(double elapsed_ns, std::optional<double> dispatch_ns) {
  BoundInput input = Cold(1'000'000, 8, elapsed_ns);
  input.dispatch_ns = dispatch_ns;
  return input;
}

TEST(ComputeBound, OverheadIsWhatStartingExplainsHalfOf) {
  EXPECT_EQ(MustBound(Started(4'000, 2'000)).label, BoundLabel::kOverhead);
  EXPECT_EQ(MustBound(Started(4'000, 2'000)).limiter, Limiter::kOverhead);
  EXPECT_EQ(MustBound(Started(4'000, 1'999)).label, BoundLabel::kCompute);
  EXPECT_EQ(MustBound(Started(4'000, 1'999)).limiter, Limiter::kCompute);
  // Starting took longer when it was measured alone.
  EXPECT_EQ(MustBound(Started(4'000, 5'000)).label, BoundLabel::kOverhead);
  // The comparison with the bound stays.
  EXPECT_DOUBLE_EQ(*MustBound(Started(4'000, 2'000)).percent_of_bound, 25);
}

TEST(ComputeBound, ABoundThatExplainsHalfOfTheTimeIsNoOverhead) {
  EXPECT_EQ(MustBound(Started(2'000, 1'500)).label, BoundLabel::kCompute);
  EXPECT_EQ(MustBound(Started(2'001, 1'500)).label, BoundLabel::kOverhead);
  EXPECT_EQ(MustBound(Started(900, 800)).label, BoundLabel::kCompute);
}

TEST(ComputeBound, ASlowKernelIsNoOverheadHoweverLittleItDoes) {
  // 8.6 us for 6144 comparisons (6 ns at peak) over 40,960 bytes (205 ns at 200 GB/s).
  BoundInput pool = Cold(6144, 40'960, 8'600);
  pool.dispatch_ns = 60;
  EXPECT_EQ(MustBound(pool).label, BoundLabel::kMemory);
  EXPECT_EQ(MustBound(pool).limiter, Limiter::kDram);
  EXPECT_NEAR(MustBound(pool).bound_ns, 204.8, 1e-9);
}

TEST(ComputeBound, WithoutBothTimesACeilingIsNamed) {
  EXPECT_EQ(MustBound(Cold(1000, 8)).label, BoundLabel::kCompute);
  EXPECT_EQ(MustBound(Cold(8, 1000)).label, BoundLabel::kMemory);
  EXPECT_EQ(MustBound(Started(1e6, std::nullopt)).label, BoundLabel::kCompute);
  BoundInput untimed = Cold(1000, 8);
  untimed.dispatch_ns = 1e6;
  EXPECT_EQ(MustBound(untimed).label, BoundLabel::kCompute);
  EXPECT_EQ(MustBound(Cold(0, 0)).label, BoundLabel::kOverhead);
}

TEST(ComputeBound, FasterThanTheBoundIsFlaggedNotClamped) {
  const Bound bound = MustBound(Cold(200'000'000, 100'000'000, 400'000));
  EXPECT_DOUBLE_EQ(*bound.percent_of_bound, 125);
  EXPECT_THAT(bound.warning, testing::HasSubstr("125.0 %"));
  EXPECT_EQ(bound.label, BoundLabel::kMemory);
}

TEST(ComputeBound, HugeCountsStayFinite) {
  const Bound bound = MustBound(Cold(INT64_MAX, INT64_MAX, 1));
  EXPECT_TRUE(std::isfinite(bound.bound_ns));
  EXPECT_TRUE(std::isfinite(*bound.percent_of_bound));
}

TEST(ComputeBound, RefusesBadCounts) {
  for (const BoundInput& input :
       {Cold(-1, 0), Cold(0, -1), Cold(1, 1, 0), Cold(1, 1, -5),
        Cold(1, 1, std::numeric_limits<double>::infinity()), Cold(1, 1, std::nan("")),
        Started(1, 0), Started(1, std::nan("")), BoundInput{.byte_count = 1, .streamed_bytes = -1},
        BoundInput{.byte_count = 1, .streamed_bytes = 2},
        BoundInput{.byte_count = 1, .pass_bytes = -1}}) {
    const Result<Bound> bound = ComputeBound(input, Machine());
    ASSERT_FALSE(bound.has_value());
    EXPECT_EQ(ReasonOf(bound), "BAD_COUNT");
  }
}

TEST(ComputeBound, RefusesBadCeilings) {
  Ceilings no_peak = Machine();
  no_peak.peak_flops_per_second = 0;
  EXPECT_EQ(ReasonOf(ComputeBound(Cold(1, 1), no_peak)), "BAD_CEILING");
  Ceilings bad_level = Machine();
  bad_level.levels[2].bytes_per_second = std::nan("");
  EXPECT_EQ(ReasonOf(ComputeBound(Cold(1, 1), bad_level)), "BAD_CEILING");
  Ceilings bad_stream = MachineWithStreams();
  bad_stream.streams[1].bytes_per_second = 0;
  EXPECT_EQ(ReasonOf(ComputeBound(Cold(1, 1), bad_stream)), "BAD_CEILING");
}

TEST(ComputeBound, NoLevelThatAppliesIsAReason) {
  Ceilings caches_only = Machine();
  caches_only.levels.pop_back();
  EXPECT_EQ(ReasonOf(ComputeBound(Cold(1, 1), caches_only)), "NO_BANDWIDTH");
  EXPECT_THAT(
      ComputeBound(Cold(1, 3 << 20), caches_only).error().message,
      testing::AllOf(testing::HasSubstr("3 MiB"), testing::HasSubstr("roofline --measure")));
  EXPECT_TRUE(ComputeBound({.byte_count = 1}, caches_only).has_value());
  caches_only.streams = {{1, 4 << 20, 400 * kGiga}};
  BoundInput weights{.byte_count = 1, .streamed_bytes = 1, .pass_bytes = 1 << 30};
  EXPECT_EQ(ReasonOf(ComputeBound(weights, caches_only)), "NO_BANDWIDTH");
  EXPECT_THAT(ComputeBound(weights, caches_only).error().message, testing::HasSubstr("1 GiB"));
  weights.pass_bytes = 4 << 20;
  EXPECT_TRUE(ComputeBound(weights, caches_only).has_value());
  weights.pass_bytes = 1 << 30;
  caches_only.levels.clear();
  EXPECT_EQ(ReasonOf(ComputeBound(weights, caches_only)), "NO_BANDWIDTH");
}

}  // namespace
}  // namespace tinyprof
