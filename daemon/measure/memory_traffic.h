// Memory traffic of whole passes, counted by the memory controllers.
//
// They count for whole sockets and all programs, whatever thread moved the bytes. So passes are
// counted many at a time, between two looks at the machine at rest, and what it moves anyway is
// subtracted. At rest the calling thread sleeps and the others of the team wait for work: asleep,
// or, as libgomp does for some milliseconds and LLVM's runtime for 200, in a loop on a line of
// their own cache; neither moves memory.
//
// Layers are too short for that, and the flushes of cold passes move memory themselves, some of it
// later, when the lines they left are written back. Both have the core's estimate or nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/counters/perf/uncore.h"
#include "daemon/measure/clock.h"
#include "daemon/measure/measure.h"
#include "daemon/measure/quantity.h"
#include "daemon/measure/workload.h"
#include "kernels/base/error.h"

namespace tinyprof {

struct MemoryControllers {
  // As UncoreMemoryTraffic::Open.
  std::function<Result<std::unique_ptr<UncoreMemoryTraffic>>()> open;
  std::function<void(int64_t ns)> sleep;
  Source source = Source::kPerfEvent;
};

// Those of this machine; `simulated` where a stand-in for its PMU is loaded.
MemoryControllers HostMemoryControllers();

class MemoryTrafficPasses {
 public:
  static constexpr int64_t kIdleNs = 50'000'000;  // before the passes, and after them
  static constexpr int64_t kLeastIdleNs = 10'000'000;
  static constexpr int64_t kBusyNs = 400'000'000;  // of passes
  static constexpr int64_t kLeastBusyNs = 10'000'000;
  // A rate at rest that changed by this much of what the passes moved makes a count suspect.
  static constexpr double kMaxUnrest = 0.1;

  // All arguments outlive the object. Finds out whether there is something to count.
  MemoryTrafficPasses(Workload& workload, Clock& clock, const MemoryControllers& controllers,
                      const MeasureOptions& options, const MeasureHooks& hooks);

  // Whether counting is worth a share of the time.
  bool available() const { return unavailable_reason_.empty(); }

  // Bytes of one bare pass, over all sockets, or why they are not known. Ends at the deadline, but
  // rests and runs for the least times, and makes one pass at least. CANCELLED when the hook says
  // so.
  Result<Quantity> Run(int64_t deadline_ns);

  // Behind the bytes that Run gave; 0 when they are absent.
  int32_t pass_count() const { return pass_count_; }

 private:
  struct Moment {
    int64_t ns = 0;
    MemoryBytes bytes;
  };
  struct Stretch {
    double s = 0;
    MemoryBytes bytes;
  };

  std::string WhyUnavailable() const;
  Result<Quantity> Count(int64_t deadline_ns);
  Result<Moment> Look(UncoreMemoryTraffic& memory);
  Result<Stretch> Since(const Moment& begin, UncoreMemoryTraffic& memory);
  Result<Stretch> Rest(int64_t ns, UncoreMemoryTraffic& memory);
  Result<Stretch> Passes(int64_t deadline_ns, UncoreMemoryTraffic& memory);
  Quantity PerPass(const MemoryBytes& moved, const Stretch& before, const Stretch& busy,
                   const Stretch& after) const;

  Workload& workload_;
  Clock& clock_;
  const MemoryControllers& controllers_;
  const MeasureOptions& options_;
  const MeasureHooks& hooks_;
  std::string unavailable_reason_;  // "CODE: sentence"; empty when there is none
  int32_t pass_count_ = 0;
};

// The memory traffic of a run's totals: the sockets' count where there is one, else the estimate
// by core events, with the reason why the sockets' count is missing as its note. Where neither is
// known, both reasons are kept: the one to act upon as the reason, the other as the note.
Quantity PreferSocketTraffic(Quantity sockets, Quantity estimate);

}  // namespace tinyprof
