// Traffic of whole sockets, counted by the memory controllers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/perf/perf_calls.h"
#include "daemon/counters/perf/uncore_pmus.h"

namespace tinyprof {

struct MemoryBytes {
  double read = 0;
  double written = 0;
};

// What such a count is; goes with every number.
inline constexpr std::string_view kWholeSocketNote =
    "whole socket, all processes; idle baseline subtracted";

// Counts from Open to the end of the object, on all sockets. One thread at a time.
class UncoreMemoryTraffic {
 public:
  // Fails with "NO_UNCORE" where there are no such counters, "PERMISSION" where this process may
  // not count for all (that takes perf_event_paranoid 0 or CAP_PERFMON), "COUNTER_BUSY" where
  // another program holds them. `root` has sys/; `calls` outlives the object.
  static Result<std::unique_ptr<UncoreMemoryTraffic>> Open(const RefusalContext& context,
                                                           const std::string& root = "/",
                                                           PerfCalls& calls = KernelPerfCalls());
  ~UncoreMemoryTraffic();
  UncoreMemoryTraffic(const UncoreMemoryTraffic&) = delete;
  UncoreMemoryTraffic& operator=(const UncoreMemoryTraffic&) = delete;

  // What is counted: "memory controllers: cas_count_read + cas_count_write".
  std::string Describe() const;

  // Bytes since Open. ABORTED / "COUNTERS_LOST" when a counter did not count all the time.
  Result<MemoryBytes> Read();

 private:
  struct Counter {
    int fd = -1;
    double bytes_per_count = 0;
    bool write = false;
    uint64_t first = 0;   // at Open
    uint64_t lag_ns = 0;  // enabled longer than counting, at Open
  };
  struct Sample {
    uint64_t value = 0;
    uint64_t lag_ns = 0;
  };

  explicit UncoreMemoryTraffic(PerfCalls& calls) : calls_(calls) {}
  Status Add(const MemoryPmu& pmu, const UncoreEvent& event, int cpu, bool write,
             const RefusalContext& context);
  Result<Sample> ReadCounter(const Counter& counter);

  PerfCalls& calls_;
  std::vector<Counter> counters_;
  std::vector<std::string> events_;  // the names, each once
};

// What `busy` moved in `busy_s` seconds, less what the machine moves anyway: `idle` in `idle_s`.
// ABORTED / "IMPLAUSIBLE" when the rest moved more than the whole.
Result<MemoryBytes> SubtractIdle(const MemoryBytes& busy, double busy_s, const MemoryBytes& idle,
                                 double idle_s);

}  // namespace tinyprof
