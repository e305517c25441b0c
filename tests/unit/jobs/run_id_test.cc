#include "daemon/jobs/run_id.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

TEST(RunIdTest, IsBase32OfTimeThenOfChance) {
  EXPECT_EQ(MakeRunId(0, 0), "0000000000000000");
  EXPECT_EQ(MakeRunId(1, 31), "000000001000000z");
  // 33 = 1 * 32 + 1; the low 35 random bits all set are seven times the last digit.
  EXPECT_EQ(MakeRunId(33, UINT64_MAX), "000000011zzzzzzz");
}

TEST(RunIdTest, SortsByTime) {
  int64_t time_ms = 0;
  std::string last = MakeRunId(time_ms, UINT64_MAX);
  for (int bit = 0; bit < 44; ++bit) {
    time_ms = int64_t{1} << bit;
    const std::string id = MakeRunId(time_ms, 0);
    EXPECT_LT(last, id) << time_ms;
    last = MakeRunId(time_ms, UINT64_MAX);
  }
}

TEST(RunIdTest, TwoAreNotAlike) { EXPECT_NE(NewRunId(), NewRunId()); }

}  // namespace
}  // namespace tinyprof
