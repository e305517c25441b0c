#include "daemon/roofline/stream_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/probes/working_set.h"

namespace tinyprof {
namespace {

TEST(StreamSets, GrowInWholeGranulesUpToTheMost) {
  for (const int threads : {1, 2, 7, 128}) {
    const int64_t most = int64_t{100} << 20;
    const std::vector<int64_t> sets = StreamSets(threads, most);
    ASSERT_GT(sets.size(), 10U);
    EXPECT_LE(sets.front() * threads,
              std::max<int64_t>(64 << 10, 2 * kWorkingSetGranule * threads));
    EXPECT_LE(sets.back(), most);
    EXPECT_GT(sets.back(), most / 1.5);
    for (size_t i = 0; i < sets.size(); ++i) {
      EXPECT_EQ(sets[i] % kWorkingSetGranule, 0);
      EXPECT_GT(sets[i], i > 0 ? sets[i - 1] : 0);
    }
  }
  EXPECT_TRUE(StreamSets(1, kWorkingSetGranule - 1).empty());
}

TEST(RaiseToCeilings, NoSetIsSlowerThanALargerOneNorThanDram) {
  std::vector<StreamPoint> points = {{1, 1, 90}, {1, 2, 20}, {1, 3, 25},
                                     {1, 4, 9},  {1, 5, 14}, {1, 6, 8}};
  RaiseToCeilings(13, points);
  std::vector<double> rates;
  for (const StreamPoint& point : points) rates.push_back(point.bytes_per_second);
  EXPECT_THAT(rates, testing::ElementsAre(90, 25, 25, 14, 14, 13));
  RaiseToCeilings(0, {});
}

TEST(StreamRate, IsAPowerOfTheSizeBetweenTwoSets) {
  // Four times the set at a quarter of the rate: the rate falls as the size grows.
  const std::vector<StreamPoint> points = {{1, 1000, 80}, {1, 4000, 20}, {1, 8000, 20}};
  EXPECT_DOUBLE_EQ(*StreamRate(points, 1000), 80);
  EXPECT_NEAR(*StreamRate(points, 2000), 40, 1e-9);
  EXPECT_NEAR(*StreamRate(points, 3200), 25, 1e-9);
  EXPECT_DOUBLE_EQ(*StreamRate(points, 4000), 20);
  EXPECT_NEAR(*StreamRate(points, 5000), 20, 1e-9);
  EXPECT_DOUBLE_EQ(*StreamRate(points, 1'000'000), 20);
  EXPECT_FALSE(StreamRate(points, 999).has_value());
  EXPECT_FALSE(StreamRate({}, 999).has_value());
}

}  // namespace
}  // namespace tinyprof
