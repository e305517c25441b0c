// Work whose counts are known beforehand, to try events with.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "daemon/counters/calibration/known_loop.h"
#include "kernels/probes/caches.h"

namespace tinyprof {

// Tests put their own in place.
struct KnownWork {
  // What hardware events are calibrated with, the most telling first; empty where there are none
  // for this CPU.
  std::vector<KnownLoop> loops;

  // Touches n pages of fresh memory: one page fault each.
  std::function<void(int64_t n)> fresh_pages;
};

// The work of this CPU: the arithmetic loops of every instruction set it has, loads from each level
// of `caches`, unpredictable branches, and more pages than a TLB holds.
KnownWork HostKnownWork(std::span<const Cache> caches);
// With the caches of the CPU that the caller runs on, as the kernel describes them; where it does
// not, without the loads whose sets need their sizes.
KnownWork HostKnownWork();

}  // namespace tinyprof
