#include "kernels/probes/known_loops.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <string_view>

namespace tinyprof {
namespace {

// Instructions that a child process retires in run(iterations), and a few around it, counted by
// single steps: an account of the machine code that owes nothing to the tables under test. Negative
// when tracing is not allowed.
int64_t CountBySingleStep(void (*run)(int64_t), int64_t iterations) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    run(iterations);
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return -1;
  int64_t steps = 0;
  while (true) {
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) break;
    waitpid(child, &status, 0);
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) break;
    ++steps;
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return steps;
}

TEST(FlopLoops, TotalsAreTheSumOfTheirParts) {
  ASSERT_FALSE(HostFlopLoops().empty());
  for (const FlopLoop& loop : HostFlopLoops()) {
    const InstructionCounts& counts = loop.per_iteration;
    EXPECT_EQ(counts.total, counts.fma + counts.mul + counts.add + counts.max + 2) << loop.name;
    EXPECT_LE(loop.active_lanes, loop.lanes) << loop.name;
    EXPECT_TRUE(loop.name.starts_with(Name(loop.isa))) << loop.name;
    EXPECT_TRUE(loop.name.ends_with(Name(loop.dtype))) << loop.name;
  }
}

TEST(FlopLoops, NamesAreUniqueAndFindable) {
  std::set<std::string_view> names;
  for (const FlopLoop& loop : HostFlopLoops()) {
    EXPECT_TRUE(names.insert(loop.name).second) << loop.name;
    EXPECT_EQ(FindFlopLoop(loop.name), &loop);
  }
  EXPECT_EQ(FindFlopLoop("avx2"), nullptr);
  EXPECT_EQ(FindFlopLoop(""), nullptr);
}

TEST(FlopLoops, FlopsByHand) {
  // 12 FMAs of 8 lanes: 192; with 6 additions: 240; half of 16 lanes masked: 12 * 2 * 8.
  FlopLoop loop{.lanes = 8, .active_lanes = 8, .per_iteration = {.fma = 12, .total = 14}};
  EXPECT_EQ(loop.flops_per_iteration(), 192);
  loop.per_iteration.add = 6;
  EXPECT_EQ(loop.flops_per_iteration(), 240);
  const FlopLoop masked{.lanes = 16, .active_lanes = 8, .per_iteration = {.fma = 12, .total = 14}};
  EXPECT_EQ(masked.flops_per_iteration(), 192);
  const FlopLoop maxima{.lanes = 8, .active_lanes = 8, .per_iteration = {.max = 12, .total = 14}};
  EXPECT_EQ(maxima.flops_per_iteration(), 0);
}

TEST(FlopLoops, NothingRunsForNoIterations) {
  // A loop that counted down from zero would not come back in the lifetime of the test.
  for (const FlopLoop& loop : HostFlopLoops()) {
    loop.run(0);
    loop.run(-1);
    loop.run_chain(0);
    loop.run_chain(-5);
  }
}

TEST(FlopLoops, SingleStepsAgreeWithTheTables) {
  for (const FlopLoop& loop : HostFlopLoops()) {
    const int64_t none = CountBySingleStep(loop.run, 0);
    if (none < 0) GTEST_SKIP() << "this process may not trace its children";
    const int64_t one = CountBySingleStep(loop.run, 1);
    const int64_t eleven = CountBySingleStep(loop.run, 11);
    EXPECT_EQ(eleven - one, 10 * loop.per_iteration.total) << loop.name;
    EXPECT_LT(one - none - loop.per_iteration.total, kLoopSetupInstructionLimit) << loop.name;
    const int64_t chain =
        CountBySingleStep(loop.run_chain, 11) - CountBySingleStep(loop.run_chain, 1);
    EXPECT_EQ(chain, 10 * (kChainLength + 2)) << loop.name;
  }
}

}  // namespace
}  // namespace tinyprof
