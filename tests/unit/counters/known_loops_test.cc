#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "daemon/counters/calibration/known_loop.h"
#include "daemon/counters/calibration/line_chain.h"
#include "daemon/counters/calibration/memory_loops.h"
#include "daemon/counters/known_work.h"
#include "kernels/base/sanitizers.h"

namespace tinyprof {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;

constexpr int64_t kKiB = 1024;

// 48 KiB, 2 MiB and 32 MiB.
const std::vector<Cache> kCaches = {
    {1, 48 * kKiB, 64, {0}}, {2, 2048 * kKiB, 64, {0}}, {3, 32768 * kKiB, 64, {0, 1}}};

// Instructions that a child process retires in run(iterations), and some around it, counted by
// single steps: an account of the machine code that owes nothing to the tables under test. Negative
// when tracing is not allowed.
int64_t CountBySingleStep(const KnownLoop& loop, int64_t iterations) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    loop.run(iterations);
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

TEST(KnownLoops, InstructionsAreThoseOfASingleStepper) {
  for (const KnownLoop& loop : HostKnownWork(kCaches).loops) {
    if (loop.prepare) {
      ASSERT_TRUE(loop.prepare(100)) << loop.facts.name;
    }
    const int64_t few = CountBySingleStep(loop, 3);
    if (few < 0) {
      GTEST_SKIP() << "this host does not allow tracing, so nobody can count the steps";
    }
    const int64_t more = CountBySingleStep(loop, 53);
    EXPECT_EQ(more - few, 50 * loop.facts.instructions) << loop.facts.name;
  }
}

// FLOPs of one iteration (eight instructions) by hand, by what counts:
// every lane and an FMA as one; every lane and an FMA as two; lanes that are on and an FMA as two;
// every lane, an FMA as two, and minima and maxima.
struct HandCount {
  int64_t nominal;
  int64_t fma_as_two;
  int64_t active;
  int64_t with_min_max;
};
const std::map<std::string, HandCount> kByHand = {
    {"scalar_add_float32", {8, 8, 8, 8}},
    {"scalar_add_float64", {8, 8, 8, 8}},
    {"sse_add_float32", {32, 32, 32, 32}},
    {"sse_add_float64", {16, 16, 16, 16}},
    {"avx2_add_float32", {64, 64, 64, 64}},
    {"avx2_add_float64", {32, 32, 32, 32}},
    {"avx512_add_float32", {128, 128, 128, 128}},
    {"avx512_add_float64", {64, 64, 64, 64}},
    {"avx512_add_masked_float32", {128, 128, 64, 128}},
    {"avx512_add_masked_float64", {64, 64, 32, 64}},
    {"scalar_fma_float32", {8, 16, 16, 16}},
    {"scalar_fma_float64", {8, 16, 16, 16}},
    {"sse_fma_float32", {32, 64, 64, 64}},
    {"sse_fma_float64", {16, 32, 32, 32}},
    {"avx2_fma_float32", {64, 128, 128, 128}},
    {"avx2_fma_float64", {32, 64, 64, 64}},
    {"avx512_fma_float32", {128, 256, 256, 256}},
    {"avx512_fma_float64", {64, 128, 128, 128}},
    {"avx512_fma_masked_float32", {128, 256, 128, 256}},
    {"avx512_fma_masked_float64", {64, 128, 64, 128}},
    {"sse_max_float32", {0, 0, 0, 32}},
    {"sse_min_float64", {0, 0, 0, 16}},
    {"avx2_max_float32", {0, 0, 0, 64}},
    {"avx2_min_float64", {0, 0, 0, 32}},
    {"avx512_max_float32", {0, 0, 0, 128}},
    {"avx512_min_float64", {0, 0, 0, 64}},
    {"scalar_div_float32", {8, 8, 8, 8}},
    {"scalar_div_float64", {8, 8, 8, 8}},
    {"sse_div_float32", {32, 32, 32, 32}},
    {"avx2_div_float64", {32, 32, 32, 32}},
    {"avx512_div_float32", {128, 128, 128, 128}},
    {"neon_add_float32", {32, 32, 32, 32}},
    {"neon_add_float64", {16, 16, 16, 16}},
    {"neon_fma_float32", {32, 64, 64, 64}},
    {"neon_fma_float64", {16, 32, 32, 32}},
    {"neon_max_float32", {0, 0, 0, 32}},
    {"neon_min_float64", {0, 0, 0, 16}},
    {"neon_div_float32", {32, 32, 32, 32}},
};

TEST(KnownLoops, FlopsAreThoseCountedByHandInEachDefinition) {
  for (const ArithmeticLoop& loop : HostArithmeticLoops()) {
    const auto found = kByHand.find(loop.facts.name);
    ASSERT_NE(found, kByHand.end()) << loop.facts.name << " has no hand count";
    const HandCount& hand = found->second;
    const LoopFacts& facts = loop.facts;
    EXPECT_EQ(facts.FlopsPerIteration({false, true, false}), hand.nominal) << facts.name;
    EXPECT_EQ(facts.FlopsPerIteration({true, true, false}), hand.fma_as_two) << facts.name;
    EXPECT_EQ(facts.FlopsPerIteration({true, false, false}), hand.active) << facts.name;
    EXPECT_EQ(facts.FlopsPerIteration({true, true, true}), hand.with_min_max) << facts.name;
  }
}

TEST(KnownLoops, NamesSayPrecisionAndAreUnique) {
  std::set<std::string> names;
  for (const KnownLoop& loop : HostKnownWork(kCaches).loops) {
    EXPECT_TRUE(names.insert(loop.facts.name).second) << loop.facts.name;
    if (loop.facts.floating_point()) {
      EXPECT_EQ(loop.facts.double_precision, loop.facts.name.ends_with("float64"));
    }
  }
  EXPECT_THAT(names, IsSupersetOf({"scalar_add_float32", "scalar_div_float64", "load_dram_random",
                                   "load_dram_in_order", "load_l1_random", "load_l2_random",
                                   "load_l3_random", "branch_random", "load_pages"}));
}

TEST(KnownLoops, NothingRunsForNoIterations) {
  // A loop that counted down from zero would not come back in the lifetime of the test.
  for (const KnownLoop& loop : HostKnownWork(kCaches).loops) {
    loop.run(0);
    loop.run(-1);
  }
}

TEST(LoadSetsFor, LinesThatMissTheNearerLevelAndFitTheirOwn) {
  std::map<std::string, LoadSet> sets;
  for (const LoadSet& set : LoadSetsFor(kCaches)) {
    sets[MakeLoadLoop(set).facts.name] = set;
  }
  EXPECT_EQ(sets.at("load_l1_random").lines, 384);    // 24 KiB
  EXPECT_EQ(sets.at("load_l2_random").lines, 6144);   // 384 KiB
  EXPECT_EQ(sets.at("load_l3_random").lines, 65536);  // 4 MiB of lines over 16 MiB
  EXPECT_TRUE(sets.at("load_dram_random").flushed);
  EXPECT_TRUE(sets.at("load_dram_in_order").in_order);
}

TEST(LoadSetsFor, CachesThatAreTooCloseInSizeHaveNoSetBetweenThem) {
  // 64 KiB, 256 KiB (no room for 8 * 64 KiB in its half), 512 KiB.
  const std::vector<Cache> close = {
      {1, 64 * kKiB, 64, {0}}, {2, 256 * kKiB, 64, {0}}, {3, 512 * kKiB, 64, {0}}};
  std::set<WorkingSet> sets;
  for (const LoadSet& set : LoadSetsFor(close)) {
    sets.insert(set.set);
  }
  EXPECT_EQ(sets, (std::set<WorkingSet>{WorkingSet::kL1, WorkingSet::kDram}));
}

TEST(LoadSetsFor, WithoutKnownCachesOnlyFlushedLines) {
  for (const LoadSet& set : LoadSetsFor({})) {
    EXPECT_TRUE(set.flushed);
  }
  EXPECT_EQ(LoadSetsFor({}).size(), 2U);
}

TEST(LineChain, VisitsEveryLineOnceALap) {
  for (const bool in_order : {false, true}) {
    LineChain chain({.lines = 1000, .spacing_bytes = 256, .in_order = in_order});
    ASSERT_TRUE(chain.ready());
    std::set<const void*> lines;
    const void* const start = chain.next_line();
    const void* line = start;
    do {
      EXPECT_TRUE(lines.insert(line).second);
      line = *static_cast<const void* const*>(line);
    } while (line != start && lines.size() <= 1000);
    EXPECT_EQ(lines.size(), 1000U);
    for (const void* const visited : lines) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(visited) % 64, 0U);
    }
  }
}

TEST(LineChain, GoesOnFromWhereItStopped) {
  LineChain chain({.lines = 10, .spacing_bytes = 64, .in_order = true});
  ASSERT_TRUE(chain.ready());
  const auto* const start = static_cast<const std::byte*>(chain.next_line());
  chain.Follow(3);
  EXPECT_EQ(static_cast<const std::byte*>(chain.next_line()) - start, 3 * 64);
  chain.Follow(8);
  EXPECT_EQ(static_cast<const std::byte*>(chain.next_line()) - start, 1 * 64);
  chain.Follow(0);
  EXPECT_EQ(static_cast<const std::byte*>(chain.next_line()) - start, 1 * 64);
  chain.FlushNext(1000);  // no more than there are
}

TEST(LineChain, MemoryThatCannotBeHadIsNoLoop) {
  const LineChain chain({.lines = int64_t{1} << 45, .spacing_bytes = 4096});
  EXPECT_FALSE(chain.ready());
  const KnownLoop loop = MakeLoadLoop({WorkingSet::kL3, int64_t{1} << 45, 4096, false, false});
  EXPECT_FALSE(loop.prepare(1));
}

}  // namespace
}  // namespace tinyprof
