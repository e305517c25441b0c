// The clock of the cores, measured.
//
// Method: a chain of dependent register-to-register additions takes one cycle each on every core we
// know, so additions per second are the clock in Hz. The addend is a register on purpose: recent
// Intel cores fold chains of additions of an immediate and run many of them in a cycle.
#pragma once

#include <cstdint>

#include "kernels/probes/trials.h"

namespace tinyprof {

inline constexpr int64_t kAddsPerChainIteration = 16;

// Executes kAddsPerChainIteration * iterations dependent additions; none when iterations <= 0.
void RunAddChain(int64_t iterations);

// The clock while every one of `threads` threads of the team runs the chain: Hz of the slowest.
RateSummary MeasureClock(int threads, const TrialBudget& budget);

// One trial of about a twentieth of a millisecond: Hz.
double SampleClockHz(int threads);

}  // namespace tinyprof
