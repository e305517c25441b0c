#include "kernels/probes/ping_pong.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <system_error>
#include <thread>

#include "kernels/probes/trials.h"

namespace tinyprof {
namespace {

constexpr int kBatch = 100;
constexpr int64_t kPatienceNs = 1'000'000'000;
constexpr int kSpinsBetweenLooks = 1 << 16;

// The line that goes back and forth; even turns are the first thread's, odd ones the second's.
struct alignas(64) Ball {
  std::atomic<int64_t> turn{0};
  std::atomic<bool> abandoned{false};
  std::atomic<bool> pinned[2] = {false, false};
  std::atomic<int> ready{0};
};

bool PinThisThread(int cpu) {
  if (cpu < 0) return false;
  cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(cpu) + 1);
  if (set == nullptr) return false;
  const size_t set_bytes = CPU_ALLOC_SIZE(static_cast<size_t>(cpu) + 1);
  CPU_ZERO_S(set_bytes, set);
  CPU_SET_S(static_cast<size_t>(cpu), set_bytes, set);
  const bool pinned = pthread_setaffinity_np(pthread_self(), set_bytes, set) == 0;
  CPU_FREE(set);
  return pinned;
}

// Spins until done() or until a second has passed without it; false then, or when the other gave
// up.
template <class Done>
bool SpinUntil(Ball& ball, const Done& done) {
  const int64_t start_ns = MonotonicNs();
  while (true) {
    for (int spin = 0; spin < kSpinsBetweenLooks; ++spin) {
      if (done()) return true;
    }
    if (ball.abandoned.load(std::memory_order_relaxed)) return false;
    if (MonotonicNs() - start_ns > kPatienceNs) {
      ball.abandoned.store(true, std::memory_order_relaxed);
      return false;
    }
  }
}

bool Start(Ball& ball, int side, int cpu) {
  ball.pinned[side].store(PinThisThread(cpu));
  ball.ready.fetch_add(1);
  if (!SpinUntil(ball, [&] { return ball.ready.load() == 2; })) return false;
  return ball.pinned[0].load() && ball.pinned[1].load();
}

bool WaitForTurn(Ball& ball, int64_t turn) {
  return SpinUntil(ball, [&] { return ball.turn.load(std::memory_order_acquire) == turn; });
}

void Serve(Ball& ball, int cpu, int round_trips, std::vector<double>& batch_ns) {
  if (!Start(ball, 0, cpu)) return;
  int64_t batch_start_ns = MonotonicNs();
  for (int64_t trip = 0; trip < round_trips; ++trip) {
    ball.turn.store(2 * trip + 1, std::memory_order_release);
    if (!WaitForTurn(ball, 2 * trip + 2)) return;
    if ((trip + 1) % kBatch != 0) continue;
    const int64_t now_ns = MonotonicNs();
    batch_ns.push_back(static_cast<double>(now_ns - batch_start_ns) / kBatch);
    batch_start_ns = now_ns;
  }
}

void Return(Ball& ball, int cpu, int round_trips) {
  if (!Start(ball, 1, cpu)) return;
  for (int64_t trip = 0; trip < round_trips; ++trip) {
    if (!WaitForTurn(ball, 2 * trip + 1)) return;
    ball.turn.store(2 * trip + 2, std::memory_order_release);
  }
}

Status CheckArguments(int first_cpu, int second_cpu, int round_trips) {
  if (first_cpu == second_cpu) {
    return Fail(ErrorCode::kInvalidArgument, "SAME_CPU",
                fmt::format("a round trip needs two different CPUs, got {} twice", first_cpu),
                {{"cpu", std::to_string(first_cpu)}});
  }
  if (round_trips < kBatch) {
    return Fail(ErrorCode::kInvalidArgument, "TOO_FEW_ROUND_TRIPS",
                fmt::format("at least {} round trips are needed, got {}", kBatch, round_trips),
                {{"got", std::to_string(round_trips)}});
  }
  return {};
}

Status RunThreads(Ball& ball, int first_cpu, int second_cpu, int round_trips,
                  std::vector<double>& batch_ns) {
  try {
    std::jthread second([&] { Return(ball, second_cpu, round_trips); });
    std::jthread first([&] { Serve(ball, first_cpu, round_trips, batch_ns); });
  } catch (const std::system_error& error) {
    ball.abandoned.store(true);
    return Fail(ErrorCode::kResourceExhausted, "NO_THREAD",
                fmt::format("the system refused a thread: {}", error.what()));
  }
  return {};
}

}  // namespace

Result<PingPongResult> MeasurePingPong(int first_cpu, int second_cpu, int round_trips) {
  TINYPROF_RETURN_IF_ERROR(CheckArguments(first_cpu, second_cpu, round_trips));
  Ball ball;
  std::vector<double> batch_ns;
  TINYPROF_RETURN_IF_ERROR(RunThreads(ball, first_cpu, second_cpu, round_trips, batch_ns));
  for (const int side : {0, 1}) {
    if (ball.pinned[side].load()) continue;
    const int cpu = side == 0 ? first_cpu : second_cpu;
    return Fail(ErrorCode::kFailedPrecondition, "CPU_NOT_ALLOWED",
                fmt::format("the system does not let this process run on CPU {}", cpu),
                {{"cpu", std::to_string(cpu)}});
  }
  if (ball.abandoned.load() || batch_ns.empty()) {
    return Fail(ErrorCode::kDeadlineExceeded, "PING_PONG_TIMEOUT",
                fmt::format("CPUs {} and {} were not free at the same time for a second", first_cpu,
                            second_cpu));
  }
  PingPongResult result;
  result.batches = static_cast<int>(batch_ns.size());
  result.min_ns = *std::min_element(batch_ns.begin(), batch_ns.end());
  result.median_ns = Median(std::move(batch_ns));
  return result;
}

}  // namespace tinyprof
