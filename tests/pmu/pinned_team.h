// The team pinned as the worker pins it: passes in which a thread migrates are thrown away.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "kernels/runtime/team.h"

namespace tinyprof {

// On a machine with fewer cores than threads some of them share one, which costs only time.
inline void PinTestTeam(int threads) {
  // Once: pinning narrows what the calling thread may run on.
  static const std::vector<int> cores = UsableCores();
  ASSERT_FALSE(cores.empty());
  std::vector<int> cpus;
  for (size_t thread = 0; thread < static_cast<size_t>(threads); ++thread) {
    cpus.push_back(cores[thread % cores.size()]);
  }
  const Status pinned = PinTeam(cpus, threads);
  ASSERT_TRUE(pinned.has_value()) << pinned.error().message;
}

}  // namespace tinyprof
