// How much memory to walk so that it comes from one level of the hierarchy and no other.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/probes/caches.h"
#include "kernels/probes/memory_loops.h"

namespace tinyprof {

enum class MemoryLevel { kL1, kL2, kL3, kDram };
// "L1", "L2", "L3", "DRAM".
std::string_view Name(MemoryLevel level);

struct WorkingSet {
  MemoryLevel level = MemoryLevel::kDram;
  int64_t bytes_per_thread = 0;  // over all arrays; a multiple of kWorkingSetGranule
};

// One block of one, two or three arrays: every working set splits into whole blocks either way.
inline constexpr int64_t kWorkingSetGranule = 6 * kMemoryBlockBytes;

// One working set for each level that can be told apart, innermost first:
//   L1, L2   half of the cache, divided among the threads of the team that share it
//   L3       as above, but no more than 32 MiB for all of them (a guest is shown the L3 of the
//   whole
//            socket and owns a part of it) unless that is less than twice what is nearer to the
//            core
//   DRAM     for the team, four times its last caches, at least 256 MiB; at most 512 MiB or twice
//   its
//            last caches, whichever is more; at most half of `available_bytes`
// A cache whose working set would not be twice what is nearer to the core is left out, as is DRAM
// when memory is too short to pass the caches. `caches` are those of team_cpus[0] (see ReadCaches)
// and may be empty; `team_cpus` has one CPU for each thread, at least one.
std::vector<WorkingSet> PlanWorkingSets(std::span<const Cache> caches,
                                        std::span<const int> team_cpus, int64_t available_bytes);

}  // namespace tinyprof
