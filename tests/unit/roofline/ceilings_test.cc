#include <gtest/gtest.h>

#include <string>

#include "daemon/roofline/roofline.h"

namespace tinyprof {
namespace {

// The reason of an error, "" for a value.
template <class T>
std::string ReasonOf(const Result<T>& result) {
  return result.has_value() ? std::string() : result.error().reason;
}

const std::string kPeak(PeakName(Isa::kBaseline));

PeakCeiling Peak(int threads, double rate) {
  return {.name = kPeak, .threads = threads, .peak_flops_per_second = rate};
}
BandwidthCeiling Bandwidth(MemoryLevel level, MemoryOp op, int threads, double rate) {
  return {.level = level, .op = op, .threads = threads, .bytes_per_second = rate};
}

// Measured with 1 and 8 threads: compute scales to 6 times, DRAM to twice.
Roofline Measured() {
  Roofline roofline;
  roofline.host.caches = {{1, 32 << 10, 64, {0, 8}},
                          {2, 1 << 20, 64, {0, 8}},
                          {3, 16 << 20, 64, {0, 1, 2, 3, 8, 9, 10, 11}}};
  roofline.isa = {Peak(1, 100), Peak(8, 600)};
  roofline.bandwidth = {Bandwidth(MemoryLevel::kL1, MemoryOp::kLoad, 1, 50),
                        Bandwidth(MemoryLevel::kL1, MemoryOp::kTriad, 1, 60),
                        Bandwidth(MemoryLevel::kL1, MemoryOp::kLoad, 8, 400),
                        Bandwidth(MemoryLevel::kL3, MemoryOp::kLoad, 1, 30),
                        Bandwidth(MemoryLevel::kL3, MemoryOp::kLoad, 8, 90),
                        Bandwidth(MemoryLevel::kDram, MemoryOp::kLoad, 1, 10),
                        Bandwidth(MemoryLevel::kDram, MemoryOp::kCopyNonTemporal, 8, 20)};
  return roofline;
}

TEST(HighestBandwidth, TakesTheBestOperation) {
  EXPECT_EQ(HighestBandwidth(Measured(), MemoryLevel::kL1, 1), 60);
  EXPECT_FALSE(HighestBandwidth(Measured(), MemoryLevel::kL2, 1).has_value());
  EXPECT_FALSE(HighestBandwidth(Measured(), MemoryLevel::kL1, 2).has_value());
}

TEST(CeilingsFor, MeasuredThreadCountsAreTakenAsTheyAre) {
  const auto one = CeilingsFor(Measured(), Isa::kBaseline, DType::kFloat32, 1);
  ASSERT_TRUE(one.has_value()) << one.error().message;
  EXPECT_EQ(one->peak_flops_per_second, 100);
  ASSERT_EQ(one->levels.size(), 3u);  // L2 was not measured
  EXPECT_EQ(one->levels[0].bytes_per_second, 60);
  EXPECT_EQ(one->levels[0].capacity_bytes, 32 << 10);
  EXPECT_EQ(one->levels[1].capacity_bytes, 16 << 20);
  EXPECT_EQ(one->levels[2].level, MemoryLevel::kDram);
  EXPECT_FALSE(one->levels[2].capacity_bytes.has_value());
  const auto all = CeilingsFor(Measured(), Isa::kBaseline, DType::kFloat32, 8);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->peak_flops_per_second, 600);
  // 8 cores have an L1 each, and an L3 between 4.
  EXPECT_EQ(all->levels[0].capacity_bytes, 8 * (32 << 10));
  EXPECT_EQ(all->levels[1].capacity_bytes, 2 * (16 << 20));
}

TEST(CeilingsFor, CountsBetweenTakeTheLowerLimit) {
  const auto some = CeilingsFor(Measured(), Isa::kBaseline, DType::kFloat32, 4);
  ASSERT_TRUE(some.has_value());
  EXPECT_EQ(some->peak_flops_per_second, 400);
  EXPECT_EQ(some->levels[0].bytes_per_second, 240);
  EXPECT_EQ(some->levels[1].bytes_per_second, 90);
  EXPECT_EQ(some->levels[2].bytes_per_second, 20);
  EXPECT_EQ(CeilingsFor(Measured(), Isa::kBaseline, DType::kFloat32, 7)->peak_flops_per_second,
            600);
}

TEST(CeilingsFor, SetsThatAreReadAgainAreThoseOfTheThreads) {
  Roofline roofline = Measured();
  roofline.streams = {{1, 1000, 50}, {1, 4000, 10}, {8, 2000, 300}, {8, 8000, 30}};
  const auto one = CeilingsFor(roofline, Isa::kBaseline, DType::kFloat32, 1);
  ASSERT_EQ(one->streams.size(), 2u);
  EXPECT_EQ(one->streams[1].set_bytes, 4000);
  EXPECT_EQ(one->streams[1].bytes_per_second, 10);
  const auto all = CeilingsFor(roofline, Isa::kBaseline, DType::kFloat32, 8);
  ASSERT_EQ(all->streams.size(), 2u);
  EXPECT_EQ(all->streams[0].bytes_per_second, 300);
  // Four threads: all of them at 2000 bytes; at 8000 all, which are less than four times
  // sqrt(50 * 10), that of one thread at 2000.
  const auto some = CeilingsFor(roofline, Isa::kBaseline, DType::kFloat32, 4);
  ASSERT_EQ(some->streams.size(), 2u);
  EXPECT_EQ(some->streams[0].bytes_per_second, 300);
  EXPECT_EQ(some->streams[1].bytes_per_second, 30);
  roofline.streams[3].bytes_per_second = 600;
  EXPECT_NEAR(
      CeilingsFor(roofline, Isa::kBaseline, DType::kFloat32, 4)->streams[1].bytes_per_second,
      89.4427, 1e-4);
}

// A team that was measured while the machine was busy.
TEST(CeilingsFor, WhatOneThreadCanDoATeamCan) {
  Roofline roofline = Measured();
  roofline.streams = {{1, 1000, 50}, {1, 8000, 10}, {8, 1000, 300}, {8, 8000, 5}};
  roofline.bandwidth.back().bytes_per_second = 8;  // DRAM of 8 threads, 10 of one
  for (const int threads : {4, 8}) {
    const auto team = CeilingsFor(roofline, Isa::kBaseline, DType::kFloat32, threads);
    EXPECT_EQ(team->levels.back().bytes_per_second, 10);
    EXPECT_EQ(team->streams[1].bytes_per_second, 10);
  }
}

TEST(CeilingsFor, WhatWasNotMeasuredIsAReason) {
  const auto reason = [](Isa isa, DType dtype, int threads) {
    return ReasonOf(CeilingsFor(Measured(), isa, dtype, threads));
  };
  EXPECT_EQ(reason(Isa::kBaseline, DType::kFloat32, 9), "NO_CEILING");
  EXPECT_EQ(reason(Isa::kBaseline, DType::kFloat32, 0), "NO_CEILING");
  EXPECT_EQ(reason(Isa::kBaseline, DType::kInt8, 1), "NO_CEILING");
  EXPECT_EQ(reason(Isa::kAvx512, DType::kFloat32, 1), "NO_CEILING");
  EXPECT_EQ(ReasonOf(CeilingsFor(Roofline{}, Isa::kBaseline, DType::kFloat32, 1)), "NO_CEILING");
  EXPECT_NE(CeilingsFor(Measured(), Isa::kBaseline, DType::kFloat32, 9)
                .error()
                .message.find("`tinyprof-client roofline --measure`"),
            std::string::npos);
}

TEST(RidgesOf, OneForEachLevelThatWasMeasured) {
  const std::vector<Ridge> ridges = RidgesOf(Measured());
  ASSERT_EQ(ridges.size(), 6u);
  EXPECT_EQ(ridges[0].level, MemoryLevel::kL1);
  EXPECT_EQ(ridges[0].threads, 1);
  EXPECT_DOUBLE_EQ(ridges[0].flop_per_byte, 100.0 / 60);
  EXPECT_EQ(ridges[5].level, MemoryLevel::kDram);
  EXPECT_EQ(ridges[5].threads, 8);
  EXPECT_DOUBLE_EQ(ridges[5].flop_per_byte, 30);
}

}  // namespace
}  // namespace tinyprof
