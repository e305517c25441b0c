// What a roofline was measured with, and whether it holds for a daemon that measures otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tinyprof/v1/host.pb.h"

namespace tinyprof {

// `cpus`: those that measure, thread i on the i-th; `memory_limit_bytes`: the most that may be
// used.
v1::RooflineSetup MakeRooflineSetup(std::span<const int> cpus, int64_t memory_limit_bytes);

// Why `stored` says too little of runs on `now`, as a clause: other CPUs; no DRAM bandwidth though
// more memory is allowed now; or it is not known with what it was measured; or it is damaged. Empty
// when it holds. Less memory than then is no reason: bandwidths do not depend on it.
std::string WhyNotForSetup(const v1::Roofline& stored, const v1::RooflineSetup& now);

}  // namespace tinyprof
