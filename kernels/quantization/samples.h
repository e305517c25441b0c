// Seeded inputs: sample i of a seed is the same on every machine.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/runtime/session.h"

namespace tinyprof {

// Told after each sample how many are done; may be empty.
using SampleFn = std::function<void(int64_t done)>;

// Fills the inputs with sample `index` (from 0), of the kind that a synthetic run feeds: by seed,
// index and the input's position alone, so that a network and its rewritten or exported forms get
// the same as long as they have the same inputs.
void FillSample(Session& session, uint64_t seed, int64_t index);

}  // namespace tinyprof
