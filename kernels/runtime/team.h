// The one OpenMP team of a process: `threads` threads, each pinned to a CPU of its own.
#pragma once

#include <span>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

// CPUs this process may run on, one for each physical core (the first of its SMT siblings),
// ascending.
std::vector<int> UsableCores();

// Starts the OpenMP runtime without a team. LLVM's registers itself in a shared-memory file then,
// which a sandbox entered later would forbid.
void StartTeamRuntime();

// Makes the team of the calling thread `threads` long and pins thread i to cpus[i]; sets
// flush-to-zero and denormals-are-zero on each, so that a denormal never slows one pass.
// INVALID_ARGUMENT / "TOO_FEW_CPUS" when there are fewer CPUs than threads, FAILED_PRECONDITION /
// "CPU_NOT_ALLOWED" when the system refuses a CPU.
Status PinTeam(std::span<const int> cpus, int threads);

}  // namespace tinyprof
