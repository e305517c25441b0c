// Measures the roofline of this machine. Takes about 5 seconds for one thread and as much again for
// a team; on a machine with little memory free or slow page faults a few more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "daemon/roofline/roofline.h"
#include "kernels/base/error.h"
#include "kernels/probes/trials.h"

namespace tinyprof {

// `done` of `total` probes are finished and `step` is next. False asks to stop.
using RooflineProgress = std::function<bool(std::string_view step, int done, int total)>;

struct RooflineOptions {
  std::vector<int> cpus;  // thread i runs on cpus[i]
  int max_threads = 1;    // ceilings are measured with 1 and with this many
  TrialBudget peak_budget{.total_ns = 150'000'000, .min_trials = 20};
  TrialBudget cache_budget{.total_ns = 80'000'000, .min_trials = 10};
  TrialBudget dram_budget{.total_ns = 350'000'000, .min_trials = 4};
  TrialBudget stream_budget{.total_ns = 30'000'000, .min_trials = 4};
  int ping_pong_round_trips = 20'000;
  // The most memory to use; what the kernel says is available limits it as well.
  int64_t memory_limit_bytes = int64_t{1} << 40;
  std::filesystem::path root = "/";  // of proc/ and sys/
  RooflineProgress progress;         // may be empty

  // Budgets of a few milliseconds a probe and 512 MiB at most: figures of poor quality, soon.
  static RooflineOptions Quick(std::vector<int> cpus, int max_threads);
};

// Pins the OpenMP team of the calling thread to options.cpus and leaves it so. A ceiling that
// cannot be measured is left out and named in `warnings`. INVALID_ARGUMENT / "TOO_FEW_CPUS",
// FAILED_PRECONDITION / "CPU_NOT_ALLOWED" as PinTeam says; CANCELLED / "CANCELLED" soon after
// `progress` returns false.
Result<Roofline> MeasureRoofline(const RooflineOptions& options);

}  // namespace tinyprof
