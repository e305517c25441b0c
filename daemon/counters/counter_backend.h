// What counts events: hardware through PAPI, software events of the kernel, or a script in tests.
//
// Protocol, for each thread of the team, numbered from 0:
//   AttachThread, then any number of [OpenGroup, Start, Read..., Stop, CloseGroup].
// Each call is made on the thread that `thread` numbers: an event set belongs to the thread that
// made it, and with user-space reads only that thread gets its own counts. Different threads may be
// inside calls at the same time. A thread has one group at a time.
//
// A group is all or nothing: every event counts all the time, unscaled (there is no multiplexing),
// or OpenGroup fails. Errors carry one of the reasons of counter_errors.h.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "kernels/base/error.h"

namespace tinyprof {

struct BackendInfo {
  std::string name;     // "papi"; "simulated" when a script or a stand-in counts
  std::string version;  // "7.0.0.0"; empty when there is none
  std::string pmu;      // the core PMU by libpfm4's name; empty when there is none
  // Why no hardware event can be counted, "CODE: sentence"; empty when they can.
  std::string unusable_reason;
};

class CounterBackend {
 public:
  // What a value of Read holds when the backend did not write it.
  static constexpr int64_t kUntouched = std::numeric_limits<int64_t>::min();

  virtual ~CounterBackend() = default;
  virtual const BackendInfo& info() const = 0;

  // Must come first on every thread; calling it again does nothing.
  virtual Status AttachThread(int thread) = 0;
  // Makes `events` ready to count, in this order. Nothing stays open after an error.
  virtual Status OpenGroup(int thread, std::span<const std::string> events) = 0;
  // Counting begins; values need not begin at 0, so callers use differences.
  virtual Status Start(int thread) = 0;
  // Writes the running counts, one for each event in the order of OpenGroup. Allocates nothing when
  // it succeeds.
  virtual Status Read(int thread, std::span<int64_t> values) = 0;
  virtual Status Stop(int thread) = 0;
  // Closes the group of the thread, whatever its state; does nothing when there is none.
  virtual void CloseGroup(int thread) = 0;
};

}  // namespace tinyprof
