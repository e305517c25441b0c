// The clock that passes are timed with.
#pragma once

#include <cstdint>

namespace tinyprof {

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since some fixed moment; never runs backwards.
  virtual int64_t NowNs() noexcept = 0;
};

// CLOCK_MONOTONIC, which the kernel serves without a system call.
Clock& MonotonicClock();

// What one read of `clock` costs: the median of batches of reads back to back, ns.
double CalibrateReadCostNs(Clock& clock);

}  // namespace tinyprof
