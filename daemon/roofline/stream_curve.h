// How fast a set of bytes is read that is read again and again, by the size of the set: what a
// network's weights meet, each of which is needed once a pass, after all the others.
//
// It is measured and not derived from the sizes of the caches. A set that is read round and round
// and is larger than a cache leaves less in it than fits, by a rule that differs between caches;
// and a guest is shown the L3 of the whole socket, of which others have their part: of 300 MiB one
// was seen to serve 75.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tinyprof {

struct StreamPoint {
  int threads = 1;
  int64_t set_bytes = 0;  // of the team together
  double bytes_per_second = 0;
};

// Bytes of each thread for the sets to measure, which grow by the square root of 2 from some 64 KiB
// for the team up to `most_bytes` for each thread: multiples of kWorkingSetGranule, ascending.
std::vector<int64_t> StreamSets(int threads, int64_t most_bytes);

// Raises what was measured to what has to be possible: a set is read no slower than a larger one,
// and none slower than `dram_bytes_per_second` (0: not measured). Points of one thread count,
// ascending; a neighbour of the guest that was busy for a moment makes one of them too low.
void RaiseToCeilings(double dram_bytes_per_second, std::span<StreamPoint> points);

// Of points of one thread count in ascending order of their sets: between two, as a power of the
// size; beyond the last, its rate. Nothing for a set below the first, nor without points.
std::optional<double> StreamRate(std::span<const StreamPoint> points, int64_t set_bytes);

}  // namespace tinyprof
