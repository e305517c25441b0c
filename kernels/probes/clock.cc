#include "kernels/probes/clock.h"

#include "kernels/probes/team_window.h"

namespace tinyprof {
namespace {

constexpr int64_t kSampleIterations = 10'000;

}  // namespace

void RunAddChain(int64_t iterations) {
  if (iterations <= 0) return;
  [[maybe_unused]] uint64_t sum = 1;
  [[maybe_unused]] const uint64_t addend = 3;
#if defined(__x86_64__)
  asm volatile(
      "1:\n"
      ".rept 16\n"
      "addq %[addend], %[sum]\n"
      ".endr\n"
      "decq %[left]\n"
      "jnz 1b\n"
      : [sum] "+r"(sum), [left] "+r"(iterations)
      : [addend] "r"(addend)
      : "cc");
#elif defined(__aarch64__)
  asm volatile(
      "1:\n"
      ".rept 16\n"
      "add %[sum], %[sum], %[addend]\n"
      ".endr\n"
      "subs %[left], %[left], #1\n"
      "b.ne 1b\n"
      : [sum] "+r"(sum), [left] "+r"(iterations)
      : [addend] "r"(addend)
      : "cc");
#else
#error "the probes know x86-64 and arm64"
#endif
}

double SampleClockHz(int threads) {
  const int64_t elapsed_ns = TimeOnTeam(threads, [](int) { RunAddChain(kSampleIterations); });
  return static_cast<double>(kAddsPerChainIteration * kSampleIterations) * 1e9 /
         static_cast<double>(elapsed_ns);
}

RateSummary MeasureClock(int threads, const TrialBudget& budget) {
  TrialLoop loop(budget);
  while (loop.WantsMore()) loop.Add(SampleClockHz(threads));
  return Summarize(loop.rates());
}

}  // namespace tinyprof
