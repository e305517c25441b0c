// What each architecture's loops export; loops.cc keeps those that the CPU at hand can run.
#pragma once

#include <span>

#include "kernels/probes/known_loops.h"
#include "kernels/probes/memory_loops.h"

namespace tinyprof {

std::span<const FlopLoop> AllFlopLoops();
std::span<const MemoryLoop> AllMemoryLoops();

}  // namespace tinyprof
