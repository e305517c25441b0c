#include "kernels/base/resource_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinyprof {
namespace {

using ::testing::HasSubstr;

// Of this process, put back at the end.
class LimitTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0); }
  void TearDown() override { setrlimit(RLIMIT_NOFILE, &before_); }
  void LimitFiles(rlim_t count) {
    const rlimit limit{.rlim_cur = count, .rlim_max = before_.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  rlimit before_{};
};

TEST_F(LimitTest, EnoughIsNoError) {
  LimitFiles(64);
  EXPECT_TRUE(CheckResourceLimits("it", {.open_files = 64}).has_value());
}

TEST_F(LimitTest, TooFewOpenFilesAreOneSentenceWithTheCommand) {
  LimitFiles(63);
  const Status checked = CheckResourceLimits("it", {.open_files = 64});
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().reason, "LIMIT_TOO_LOW");
  EXPECT_THAT(checked.error().message, HasSubstr("the limit of open files is 63"));
  EXPECT_THAT(checked.error().message, HasSubstr("`ulimit -n "));
}

}  // namespace
}  // namespace tinyprof
