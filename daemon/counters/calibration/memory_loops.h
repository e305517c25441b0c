// Loops of loads with a known number of lines, of branches that nothing can predict, and of more
// pages than a TLB holds.
//
// Loads follow pointers from line to line, each waiting for the one before: three instructions and
// one load a line, whatever the order, which is in the pointers. Sets are made when they are first
// prepared, and freed with the last copy of their loops.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/counters/calibration/known_loop.h"
#include "kernels/probes/caches.h"

namespace tinyprof {

// A working set whose loads miss every level nearer than `set` and hit in it.
struct LoadSet {
  WorkingSet set = WorkingSet::kL1;
  int64_t lines = 0;
  int64_t spacing_bytes = 0;  // from one line to the next
  bool in_order = false;
  bool flushed = false;  // taken out of all caches before each dose
};

// The sets for these caches, DRAM's first. Sizes follow from the caches: half of the first level;
// eight times the first level, where that is at most half of the second; lines of twice the second
// level, where the third is at least four times as large. What does not fit has no set, and with no
// caches given only the flushed sets remain, which are the same everywhere.
std::vector<LoadSet> LoadSetsFor(std::span<const Cache> caches);

// "load_dram_random", "load_l1_random", "load_dram_in_order".
KnownLoop MakeLoadLoop(const LoadSet& set);
// "load_pages"
KnownLoop MakePagesLoop();
// "branch_random"
KnownLoop MakeBranchLoop();

}  // namespace tinyprof
