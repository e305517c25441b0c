// Which CPUs measure and which do everything else.
#pragma once

#include <span>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

struct CpuSplit {
  std::vector<int> measurement;  // at least one; thread i of a run is pinned to the i-th
  std::vector<int>
      housekeeping;  // where the daemon's own threads run; may overlap on small machines
};

// `asked`: the configured measurement CPUs, or empty for one per physical core of `cores` with the
// first core left out where there are several. `allowed`: all CPUs of the process. Housekeeping is
// what is allowed and neither measures nor shares a core with a CPU that does, else what does not
// measure, else everything. FAILED_PRECONDITION / "CPU_NOT_ALLOWED" for an asked CPU that is not
// allowed. `siblings` gives the CPUs that share the core of one.
Result<CpuSplit> SplitCpus(std::span<const int> asked, std::span<const int> cores,
                           std::span<const int> allowed,
                           const std::vector<std::vector<int>>& siblings);

// SplitCpus for this machine.
Result<CpuSplit> SplitCpusOfThisMachine(std::span<const int> asked);

// Binds the calling thread, and all threads it starts from then on, to `cpus`. FAILED_PRECONDITION
// / "CPU_NOT_ALLOWED".
Status BindThread(std::span<const int> cpus);

}  // namespace tinyprof
