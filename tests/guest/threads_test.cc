// Each thread counts its own work, whatever the others do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <thread>
#include <vector>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/papi/papi_backend.h"
#include "tests/guest/spin.h"

namespace tinyprof {
namespace {

constexpr int64_t kTurns = 400'000;  // longer than the kernel's tick, so that threads take turns
constexpr int kWorkers = 3;

struct Counted {
  std::array<int64_t, 3> reads{};
  Status status;
  // What `turns` turns cost, the cost of reading cancelled out.
  int64_t Difference() const { return (reads[2] - reads[1]) - (reads[1] - reads[0]); }
};

// A round is a call of its own, so that the instructions around the work are the same in each.
[[gnu::noinline]] Status SpinAndRead(CounterBackend& backend, int thread, int64_t turns,
                                     int64_t& value) {
  Spin(turns);
  return backend.Read(thread, {&value, 1});
}

Status CountTurns(CounterBackend& backend, int thread, int64_t turns, std::barrier<>& all,
                  std::array<int64_t, 3>& reads) {
  const std::vector<std::string> events = {"INST_RETIRED"};
  const std::array<int64_t, 3> doses = {1, turns, 2 * turns};
  Status opened = backend.AttachThread(thread);
  if (opened.has_value()) {
    opened = backend.OpenGroup(thread, events);
  }
  // Counters of all threads are open before any of them works.
  all.arrive_and_wait();
  TINYPROF_RETURN_IF_ERROR(opened);
  TINYPROF_RETURN_IF_ERROR(backend.Start(thread));
  for (size_t round = 0; round < doses.size(); ++round) {
    TINYPROF_RETURN_IF_ERROR(SpinAndRead(backend, thread, doses[round], reads[round]));
  }
  return backend.Stop(thread);
}

TEST(Threads, EachCountsItsOwnWorkExactly) {
  const auto papi = MakePapiBackend(kWorkers);
  std::barrier all(kWorkers);
  std::array<Counted, kWorkers> counted;
  std::vector<std::jthread> workers;
  for (int thread = 0; thread < kWorkers; ++thread) {
    workers.emplace_back([&, thread] {
      Counted& mine = counted[static_cast<size_t>(thread)];
      mine.status = CountTurns(*papi, thread, (thread + 1) * kTurns, all, mine.reads);
      papi->CloseGroup(thread);
    });
  }
  workers.clear();
  for (int thread = 0; thread < kWorkers; ++thread) {
    const Counted& mine = counted[static_cast<size_t>(thread)];
    ASSERT_TRUE(mine.status.has_value()) << ReasonOf(mine.status.error());
    EXPECT_EQ(mine.Difference(), kInstructionsPerTurn * (thread + 1) * kTurns) << thread;
  }
}

TEST(Threads, OneThatWaitsCountsNothingOfTheOthers) {
  const auto papi = MakePapiBackend(2);
  ASSERT_TRUE(papi->AttachThread(0).has_value());
  const std::vector<std::string> events = {"INST_RETIRED"};
  ASSERT_TRUE(papi->OpenGroup(0, events).has_value());
  ASSERT_TRUE(papi->Start(0).has_value());
  std::array<int64_t, 2> reads{};
  ASSERT_TRUE(papi->Read(0, {&reads[0], 1}).has_value());
  std::jthread([] { Spin(10 * kTurns); }).join();
  ASSERT_TRUE(papi->Read(0, {&reads[1], 1}).has_value());
  papi->CloseGroup(0);
  // Making and joining a thread takes some thousand instructions, the loop 8 million.
  EXPECT_LT(reads[1] - reads[0], kTurns);
}

}  // namespace
}  // namespace tinyprof
