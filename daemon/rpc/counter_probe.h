// What this host can count, asked of a worker and kept until it is asked for anew.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "daemon/jobs/daemon_checks.h"
#include "daemon/ops/log.h"
#include "kernels/base/error.h"
#include "worker.pb.h"

namespace tinyprof {

// Thread-safe.
class CounterProbe {
 public:
  using Abandoned = std::function<bool()>;
  // Counts on the measurement CPUs; blocks until it has, or until `abandoned` says so.
  using Probe = std::function<Result<worker::CountersResult>(const Abandoned& abandoned)>;

  // `logger` must outlive the probe.
  CounterProbe(Probe probe, const Logger& logger);
  // Gives up what is still being probed.
  ~CounterProbe();

  // Probes on a thread of its own, so that the first caller finds the answer.
  void Start();
  // The answer; the first caller (or Start) probes and the others wait. An error is not kept: the
  // next caller tries again.
  Result<worker::CountersResult> Get(const Abandoned& abandoned);
  // A new answer, which Get gives from then on; after an error it gives the old one.
  Result<worker::CountersResult> Renew(const Abandoned& abandoned);
  // An answer that was found without being asked for, which Get gives from then on.
  void Keep(worker::CountersResult counters);
  // The answer if there is one yet.
  std::optional<worker::CountersResult> Known() const;
  // The answer and how the last attempt after it failed, without waiting for one that goes on.
  LastCalibration Last() const;

 private:
  // With probing_mutex_ held.
  Result<worker::CountersResult> ProbeAndKeep(const Abandoned& abandoned);

  Probe probe_;
  const Logger& logger_;
  mutable std::mutex known_mutex_;
  LastCalibration last_;
  std::timed_mutex probing_mutex_;
  std::jthread first_;
};

// FAILED_PRECONDITION / "COUNTERS_UNAVAILABLE" with why, unless hardware events can be counted.
Status RequireHardwareCounters(const worker::CountersResult& counters);

}  // namespace tinyprof
