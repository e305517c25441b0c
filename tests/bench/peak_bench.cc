// Prints FLOP per cycle of every loop of the peak probe beside what the core can do by its design.
//   peak_bench [THREADS]
// The design figure is that of two units that take one instruction each a cycle, whatever its
// width; cores with more units, or fewer wide ones, show more or less than 100 %.
#include <fmt/format.h>

#include <cstdlib>

#include "kernels/probes/known_loops.h"
#include "kernels/probes/peak_flops.h"
#include "kernels/runtime/team.h"

namespace tinyprof {
namespace {

// Two instructions a cycle, each doing what an average one of the loop does.
double TwoUnitsFlopsPerCycle(const FlopLoop& loop) {
  const InstructionCounts& counts = loop.per_iteration;
  const double arithmetic = static_cast<double>(counts.fma + counts.mul + counts.add);
  return 2 * static_cast<double>(loop.flops_per_iteration()) / arithmetic;
}

int Run(int threads) {
  const Status pinned = PinTeam(UsableCores(), threads);
  if (!pinned.has_value()) {
    fmt::print(stderr, "{}\n", pinned.error().message);
    return EXIT_FAILURE;
  }
  fmt::print("threads: {}\n{:<28}{:>10}{:>10}{:>8}{:>14}{:>14}{:>8}{:>8}\n", threads, "loop",
             "FLOP/cyc", "2 units", "%", "best GFLOP/s", "median", "GHz", "trials");
  for (const FlopLoop& loop : HostFlopLoops()) {
    if (loop.flops_per_iteration() == 0) continue;
    const PeakResult peak = MeasurePeak(loop, threads, TrialBudget{});
    const double design = TwoUnitsFlopsPerCycle(loop);
    fmt::print("{:<28}{:>10.2f}{:>10.2f}{:>8.1f}{:>14.2f}{:>14.2f}{:>8.3f}{:>8}\n", loop.name,
               peak.flops_per_cycle, design, 100 * peak.flops_per_cycle / design,
               peak.flops_per_second.best / 1e9, peak.flops_per_second.median / 1e9,
               peak.clock_hz / 1e9, peak.flops_per_second.trials);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace tinyprof

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (threads < 1) {
    fmt::print(stderr, "THREADS must be a number of at least 1, got \"{}\"\n", argv[1]);
    return EXIT_FAILURE;
  }
  return tinyprof::Run(threads);
}
