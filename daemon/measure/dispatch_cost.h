// What starting a layer takes when it has no work.
//
// Timed as short layers are (timing_passes.h): repeated back to back within one pair of clock
// reads, whose cost is subtracted; here the median of up to kDispatchBatches such batches.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/measure/clock.h"
#include "daemon/measure/measure.h"
#include "daemon/measure/workload.h"
#include "kernels/base/error.h"

namespace tinyprof {

// Takes about 100 us; no new batch begins after kDispatchBudgetNs a layer, once there are three.
inline constexpr int kDispatchBatches = 21;
inline constexpr int64_t kDispatchBudgetNs = 5'000'000;

// `empty` has one layer without work (EmptyLayers), or two, the second started on the whole team.
// FAILED_PRECONDITION / "NO_DISPATCH_TIME" when the clock is too coarse for them, CANCELLED when
// the hook says so. Called by the master of the team.
Result<DispatchCost> MeasureDispatchCost(Workload& empty, Clock& clock, double read_cost_ns,
                                         const MeasureHooks& hooks);

// What a run says when it has no dispatch cost because of `error`.
std::string NoDispatchWarning(const Error& error);

}  // namespace tinyprof
