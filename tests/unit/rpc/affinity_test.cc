#include "daemon/rpc/affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinyprof {
namespace {

using testing::ElementsAre;
using Ints = std::vector<int>;

TEST(SplitCpus, LeavesTheFirstCoreToTheDaemon) {
  const auto split = SplitCpus({}, Ints{0, 1, 2, 3}, Ints{0, 1, 2, 3}, {});
  ASSERT_TRUE(split.has_value());
  EXPECT_THAT(split->measurement, ElementsAre(1, 2, 3));
  EXPECT_THAT(split->housekeeping, ElementsAre(0));
}

TEST(SplitCpus, OneCoreDoesBoth) {
  const auto split = SplitCpus({}, Ints{5}, Ints{5}, {{5}});
  ASSERT_TRUE(split.has_value());
  EXPECT_THAT(split->measurement, ElementsAre(5));
  EXPECT_THAT(split->housekeeping, ElementsAre(5));
}

// Four cores of two threads, CPU n and n + 4 on one core.
TEST(SplitCpus, HousekeepingKeepsOffTheSiblings) {
  const std::vector<Ints> siblings = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const auto split =
      SplitCpus(Ints{2, 3}, Ints{0, 1, 2, 3}, Ints{0, 1, 2, 3, 4, 5, 6, 7}, siblings);
  ASSERT_TRUE(split.has_value());
  EXPECT_THAT(split->measurement, ElementsAre(2, 3));
  EXPECT_THAT(split->housekeeping, ElementsAre(0, 1, 4, 5));
}

TEST(SplitCpus, ASiblingIsBetterThanAMeasuringCpu) {
  const auto split = SplitCpus(Ints{0}, Ints{0}, Ints{0, 1}, {{0, 1}});
  ASSERT_TRUE(split.has_value());
  EXPECT_THAT(split->housekeeping, ElementsAre(1));
}

TEST(SplitCpus, MayMeasureOnAllCpus) {
  const auto split = SplitCpus(Ints{0, 1}, Ints{0, 1}, Ints{0, 1}, {{0}, {1}});
  ASSERT_TRUE(split.has_value());
  EXPECT_THAT(split->housekeeping, ElementsAre(0, 1));
}

TEST(SplitCpus, RefusesACpuThatIsNotAllowed) {
  const auto split = SplitCpus(Ints{1, 9}, Ints{0, 1}, Ints{0, 1}, {});
  ASSERT_FALSE(split.has_value());
  EXPECT_EQ(split.error().reason, "CPU_NOT_ALLOWED");
  EXPECT_EQ(split.error().metadata.at("cpu"), "9");
}

TEST(SplitCpusOfThisMachine, GivesCpusThatAThreadCanUse) {
  const auto split = SplitCpusOfThisMachine({});
  ASSERT_TRUE(split.has_value()) << split.error().message;
  EXPECT_FALSE(split->measurement.empty());
  EXPECT_TRUE(BindThread(split->housekeeping).has_value());
}

TEST(BindThread, SaysWhichCpusCannotBeHad) {
  const Status bound = BindThread(Ints{4095});
  ASSERT_FALSE(bound.has_value());
  EXPECT_EQ(bound.error().reason, "CPU_NOT_ALLOWED");
}

}  // namespace
}  // namespace tinyprof
