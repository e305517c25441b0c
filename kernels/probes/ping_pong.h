// How long two cores take to hand a cache line back and forth.
//
// On a shared host two virtual CPUs move between physical cores; a round trip tells whether they
// are near each other or not, and with it whether two measurements with two threads can be
// compared.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

struct PingPongResult {
  double median_ns = 0;  // of one round trip: there and back
  double min_ns = 0;
  int batches = 0;
};

// Runs two threads of its own on `first_cpu` and `second_cpu` for `round_trips` (at least 100)
// round trips, in batches of 100. INVALID_ARGUMENT / "SAME_CPU", FAILED_PRECONDITION /
// "CPU_NOT_ALLOWED"; DEADLINE_EXCEEDED / "PING_PONG_TIMEOUT" when one of them does not get to run
// for a second.
Result<PingPongResult> MeasurePingPong(int first_cpu, int second_cpu, int round_trips);

}  // namespace tinyprof
