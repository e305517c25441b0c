// The whole measurement runs and its parts fit together. How large the figures are is not tested.
#include "daemon/roofline/measure_roofline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "kernels/runtime/isa.h"
#include "kernels/runtime/team.h"

namespace tinyprof {
namespace {

// Measuring pins this thread, after which it may use one core: ask before.
const std::vector<int> kCores = UsableCores();

RooflineOptions Small(int max_threads) {
  RooflineOptions options = RooflineOptions::Quick(kCores, max_threads);
  options.memory_limit_bytes = int64_t{64} << 20;
  return options;
}

TEST(MeasureRoofline, EveryCeilingOfThisCpuIsThere) {
  const auto roofline = MeasureRoofline(Small(1));
  ASSERT_TRUE(roofline.has_value()) << roofline.error().message;
  for (const Isa isa : HostIsas()) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      const PeakCeiling* peak = FindPeak(*roofline, PeakName(isa), dtype, 1);
      ASSERT_NE(peak, nullptr) << Name(isa);
      EXPECT_GT(peak->flops_per_cycle, 0);
      EXPECT_GT(peak->peak_flops_per_second, 0);
      EXPECT_GE(peak->peak_flops_per_second, peak->median_flops_per_second);
    }
  }
  EXPECT_GT(roofline->clock_hz, 0);
  EXPECT_EQ(roofline->fingerprint, Fingerprint(roofline->host));
  EXPECT_FALSE(roofline->ping_pong_ns.has_value());
  for (const BandwidthCeiling& ceiling : roofline->bandwidth) {
    EXPECT_TRUE(std::isfinite(ceiling.bytes_per_second));
    EXPECT_GT(ceiling.bytes_per_second, 0);
    EXPECT_GT(ceiling.working_set_bytes, 0);
  }
  for (const Ridge& ridge : roofline->ridge) EXPECT_GT(ridge.flop_per_byte, 0);
  EXPECT_EQ(roofline->streams.empty(), roofline->bandwidth.empty());
  int64_t last_bytes = 0;
  double last_rate = std::numeric_limits<double>::infinity();
  for (const StreamPoint& point : roofline->streams) {
    EXPECT_EQ(point.threads, 1);
    EXPECT_GT(point.set_bytes, last_bytes);
    EXPECT_TRUE(std::isfinite(point.bytes_per_second));
    EXPECT_GT(point.bytes_per_second, 0);
    EXPECT_LE(point.bytes_per_second, last_rate);
    last_bytes = point.set_bytes;
    last_rate = point.bytes_per_second;
  }
}

TEST(MeasureRoofline, TooLittleMemoryIsAWarning) {
  RooflineOptions options = Small(1);
  options.memory_limit_bytes = 1 << 20;
  const auto roofline = MeasureRoofline(options);
  ASSERT_TRUE(roofline.has_value()) << roofline.error().message;
  EXPECT_FALSE(HighestBandwidth(*roofline, MemoryLevel::kDram, 1).has_value());
  bool told = false;
  for (const std::string& warning : roofline->warnings) {
    told = told || warning.find("no DRAM bandwidth") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST(MeasureRoofline, ATeamIsMeasuredBesideOneThread) {
  if (kCores.size() < 2) GTEST_SKIP() << "this process may use one core only";
  const auto roofline = MeasureRoofline(Small(2));
  ASSERT_TRUE(roofline.has_value()) << roofline.error().message;
  std::set<int> counts;
  for (const PeakCeiling& peak : roofline->isa) counts.insert(peak.threads);
  EXPECT_EQ(counts, (std::set<int>{1, 2}));
  EXPECT_TRUE(CeilingsFor(*roofline, Isa::kBaseline, DType::kFloat32, 2).has_value());
}

TEST(MeasureRoofline, ProgressCountsUpToTheTotal) {
  RooflineOptions options = Small(1);
  std::vector<int> done;
  int last_total = 0;
  options.progress = [&](std::string_view step, int finished, int total) {
    EXPECT_FALSE(step.empty());
    done.push_back(finished);
    last_total = total;
    return true;
  };
  ASSERT_TRUE(MeasureRoofline(options).has_value());
  for (size_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i], static_cast<int>(i));
  EXPECT_EQ(static_cast<int>(done.size()), last_total);
}

TEST(MeasureRoofline, StopsWhenAsked) {
  RooflineOptions options = Small(1);
  int calls = 0;
  options.progress = [&](std::string_view, int, int) { return ++calls < 3; };
  const auto roofline = MeasureRoofline(options);
  ASSERT_FALSE(roofline.has_value());
  EXPECT_EQ(roofline.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(calls, 3);
}

TEST(MeasureRoofline, RefusesMoreThreadsThanCpus) {
  for (const int threads : {0, -1, 2}) {
    const auto roofline = MeasureRoofline(RooflineOptions::Quick({0}, threads));
    ASSERT_FALSE(roofline.has_value());
    EXPECT_EQ(roofline.error().reason, "TOO_FEW_CPUS");
  }
}

}  // namespace
}  // namespace tinyprof
