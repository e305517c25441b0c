#include "kernels/probes/peak_flops.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/probes/clock.h"
#include "kernels/probes/team_window.h"

namespace tinyprof {
namespace {

// About a fifth of a millisecond: shorter than a time slice, far longer than reading the time.
constexpr int64_t kTrialInstructions = 1'500'000;
constexpr int64_t kChainIterations = 4'000;

// Links of the chain a second, of the slowest thread.
double SampleChainRate(const FlopLoop& loop, int threads) {
  const int64_t elapsed_ns = TimeOnTeam(threads, [&](int) { loop.run_chain(kChainIterations); });
  return static_cast<double>(kChainLength * kChainIterations) * 1e9 /
         static_cast<double>(elapsed_ns);
}

}  // namespace

PeakResult MeasurePeak(const FlopLoop& loop, int threads, const TrialBudget& budget) {
  const int64_t iterations = kTrialInstructions / loop.per_iteration.total;
  const double team_flops = static_cast<double>(loop.flops_per_iteration() * iterations * threads);
  std::vector<double> chain_rates;
  std::vector<double> add_rates;
  TrialLoop trials(budget);
  while (trials.WantsMore()) {
    const int64_t elapsed_ns = TimeOnTeam(threads, [&](int) { loop.run(iterations); });
    chain_rates.push_back(SampleChainRate(loop, threads));
    add_rates.push_back(SampleClockHz(threads));
    trials.Add(team_flops * 1e9 / static_cast<double>(elapsed_ns));
  }
  PeakResult result{.loop = &loop, .threads = threads};
  result.flops_per_second = Summarize(trials.rates());
  const double latency = std::round(Percentile90(add_rates) / Percentile90(chain_rates));
  result.latency_cycles = std::max(1, static_cast<int>(latency));
  result.clock_hz = Percentile90(chain_rates) * result.latency_cycles;
  result.flops_per_cycle = Percentile90(trials.rates()) / (result.clock_hz * threads);
  return result;
}

}  // namespace tinyprof
