// Seeded inputs: sample i of a seed is the same on every machine.
#pragma once

#include <cstdint>

#include "kernels/runtime/session.h"

namespace tinyprof {

// Fills the inputs with sample `index` (from 0), of the kind that a synthetic run feeds. The graph
// that the session runs may have been rewritten, as long as its inputs have the fills they had.
void FillSample(Session& session, uint64_t seed, int64_t index);

}  // namespace tinyprof
