#include "kernels/base/thread_supply.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

namespace tinyprof {
namespace {

TEST(ThreadSupply, EnoughThreadsAreNoError) {
  EXPECT_TRUE(CheckThreadSupply("it", 48).has_value());
}

// In a process of a user whom the limit binds; root is free of it.
TEST(ThreadSupplyDeathTest, TooFewThreadsAreOneSentenceWithTheCommand) {
  constexpr uid_t kUserWithoutProcesses = 64'021;
  const auto check_limited = [] {
    const rlimit limit{.rlim_cur = 20, .rlim_max = 20};
    if (setrlimit(RLIMIT_NPROC, &limit) != 0) _exit(2);
    if (geteuid() == 0 && setuid(kUserWithoutProcesses) != 0) _exit(3);
    const Status checked = CheckThreadSupply("it", 48);
    if (checked.has_value()) _exit(4);
    std::fputs(checked.error().message.c_str(), stderr);
    _exit(0);
  };
  EXPECT_EXIT(check_limited(), ::testing::ExitedWithCode(0),
              "only .* of the 48 threads that it needs .* it is 20.*ulimit -u");
}

}  // namespace
}  // namespace tinyprof
