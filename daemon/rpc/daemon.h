// tinyprofd as a whole: what it is made of and its life from start to drain.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/jobs/job_queue.h"
#include "daemon/ops/config.h"
#include "daemon/ops/log.h"
#include "daemon/ops/notify.h"
#include "kernels/base/error.h"

namespace tinyprof {

struct DaemonOptions {
  Config config;
  std::string_view version;
  // Measures; outlives the daemon.
  TaskRunner* runner = nullptr;
  Notifier notifier;
  // Reads the level of the log anew, for SIGHUP.
  std::function<LogLevel()> reload_log_level;
};

// What a configuration may be wrong in that only this host can tell: addresses that are not
// allowed, CPUs that are not there, and limits too low to serve under. Errors of CheckAddress(),
// SplitCpus(), CheckResourceLimits() and CheckThreadSupply().
Status CheckAgainstThisHost(const Config& config);

// The CPUs that would measure with a configuration that CheckAgainstThisHost() found no fault with.
std::vector<int> MeasurementCpus(const Config& config);

// Serves until SIGTERM or SIGINT, then lets the run in progress end within drain_timeout; a second
// signal cancels it. BlockSignals() must have been called before any thread was started.
//
// In order: host lock, lock of the state directory, store (interrupted runs become FAILED), models,
// queue, probe of the counters (beside the rest), server, "ready" on stderr and to the service
// manager.
Status RunDaemon(const DaemonOptions& options);

}  // namespace tinyprof
