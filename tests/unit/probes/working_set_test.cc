#include "kernels/probes/working_set.h"

#include <gtest/gtest.h>

#include <vector>

namespace tinyprof {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;
constexpr int64_t kGiB = 1024 * kMiB;

int64_t Granules(int64_t bytes) { return bytes / 3072 * 3072; }

std::vector<Cache> Machine(int64_t l3_bytes) {
  return {{1, 48 * kKiB, 64, {0}}, {2, 2 * kMiB, 64, {0}}, {3, l3_bytes, 64, {0, 1, 2, 3}}};
}

TEST(PlanWorkingSets, OneThreadTakesHalfOfEachCache) {
  const auto plan = PlanWorkingSets(Machine(32 * kMiB), std::vector<int>{0}, 64 * kGiB);
  ASSERT_EQ(plan.size(), 4u);
  EXPECT_EQ(plan[0].level, MemoryLevel::kL1);
  EXPECT_EQ(plan[0].bytes_per_thread, 24 * kKiB);  // 8 granules of 3072
  EXPECT_EQ(plan[1].level, MemoryLevel::kL2);
  EXPECT_EQ(plan[1].bytes_per_thread, Granules(1 * kMiB));
  EXPECT_EQ(plan[2].level, MemoryLevel::kL3);
  EXPECT_EQ(plan[2].bytes_per_thread, Granules(16 * kMiB));
  EXPECT_EQ(plan[3].level, MemoryLevel::kDram);
  EXPECT_EQ(plan[3].bytes_per_thread, Granules(256 * kMiB));
}

TEST(PlanWorkingSets, SharedCacheIsDivided) {
  const auto plan = PlanWorkingSets(Machine(32 * kMiB), std::vector<int>{0, 1}, 64 * kGiB);
  ASSERT_EQ(plan.size(), 4u);
  EXPECT_EQ(plan[0].bytes_per_thread, 24 * kKiB);
  EXPECT_EQ(plan[2].bytes_per_thread, Granules(8 * kMiB));
  EXPECT_EQ(plan[3].bytes_per_thread, Granules(128 * kMiB));
}

TEST(PlanWorkingSets, HugeSharedCacheIsNotBelieved) {
  const auto plan = PlanWorkingSets(Machine(260 * kMiB), std::vector<int>{0}, 64 * kGiB);
  ASSERT_EQ(plan.size(), 4u);
  EXPECT_EQ(plan[2].bytes_per_thread, Granules(32 * kMiB));
  EXPECT_EQ(plan[3].bytes_per_thread, Granules(520 * kMiB));
}

TEST(PlanWorkingSets, SharesSmallerThanWhatIsNearerAreLeftOut) {
  // Four threads have 2 MiB of L3 each, no more than their L2.
  const auto plan = PlanWorkingSets(Machine(16 * kMiB), std::vector<int>{0, 1, 2, 3}, 64 * kGiB);
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan[2].level, MemoryLevel::kDram);
}

TEST(PlanWorkingSets, ShortMemoryLeavesDramOut) {
  const auto little = PlanWorkingSets(Machine(32 * kMiB), std::vector<int>{0}, 100 * kMiB);
  ASSERT_EQ(little.size(), 3u);
  EXPECT_EQ(little.back().level, MemoryLevel::kL3);
  const auto enough = PlanWorkingSets(Machine(32 * kMiB), std::vector<int>{0}, 200 * kMiB);
  ASSERT_EQ(enough.size(), 4u);
  EXPECT_EQ(enough.back().bytes_per_thread, Granules(100 * kMiB));
}

TEST(PlanWorkingSets, NoCachesLeavesDramAlone) {
  const auto plan = PlanWorkingSets({}, std::vector<int>{0}, 64 * kGiB);
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].level, MemoryLevel::kDram);
  EXPECT_EQ(plan[0].bytes_per_thread, Granules(256 * kMiB));
  EXPECT_TRUE(PlanWorkingSets({}, std::vector<int>{0}, 0).empty());
}

}  // namespace
}  // namespace tinyprof
