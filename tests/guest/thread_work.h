// Threads that each do a different amount of known work and count it at the same time.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "daemon/counters/counter_backend.h"
#include "daemon/counters/counter_errors.h"
#include "tests/guest/spin.h"

namespace tinyprof {

// Longer than the kernel's tick, so that threads take turns.
inline constexpr int64_t kTurns = 400'000;
inline constexpr int kWorkers = 3;

struct Counted {
  std::array<int64_t, 3> reads{};
  Status status;
  // What `turns` turns cost, the cost of reading cancelled out.
  int64_t Difference() const { return (reads[2] - reads[1]) - (reads[1] - reads[0]); }
};

// A round is a call of its own, so that the instructions around the work are the same in each.
[[gnu::noinline]] inline Status SpinAndRead(CounterBackend& backend, int thread, int64_t turns,
                                            int64_t& value) {
  Spin(turns);
  return backend.Read(thread, {&value, 1});
}

inline Status CountTurns(CounterBackend& backend, int thread, int64_t turns, std::barrier<>& all,
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

// `backend` is one for kWorkers threads.
inline void ExpectEachThreadCountsItsOwnWork(CounterBackend& backend) {
  std::barrier all(kWorkers);
  std::array<Counted, kWorkers> counted;
  std::vector<std::jthread> workers;
  for (int thread = 0; thread < kWorkers; ++thread) {
    workers.emplace_back([&, thread] {
      Counted& mine = counted[static_cast<size_t>(thread)];
      mine.status = CountTurns(backend, thread, (thread + 1) * kTurns, all, mine.reads);
      backend.CloseGroup(thread);
    });
  }
  workers.clear();
  for (int thread = 0; thread < kWorkers; ++thread) {
    const Counted& mine = counted[static_cast<size_t>(thread)];
    ASSERT_TRUE(mine.status.has_value()) << ReasonOf(mine.status.error());
    EXPECT_EQ(mine.Difference(), kInstructionsPerTurn * (thread + 1) * kTurns) << thread;
  }
}

}  // namespace tinyprof
