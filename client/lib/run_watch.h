// Starts a run and follows it to its end.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "client/lib/connection.h"
#include "client/lib/interrupts.h"
#include "kernels/base/error.h"
#include "tinyprof/v1/run.pb.h"

namespace tinyprof::client {

struct WatchOptions {
  // Longest wait; nullopt waits as long as the run takes.
  std::optional<std::chrono::nanoseconds> timeout;
  std::string timeout_text;  // the same as it was asked for, "3s"
  // Whether Ctrl-C and the timeout cancel the run, or only stop watching it.
  bool cancel_run = true;
  // Called on the caller's thread with each state of the run.
  std::function<void(const v1::Run&)> on_progress;
  // Called with a sentence for the person who waits.
  std::function<void(const std::string&)> on_notice;
};

struct WatchOutcome {
  v1::Run run;  // as it was last seen
  bool interrupted = false;
  bool timed_out = false;
};

// Whether the run will not change any more.
bool HasEnded(v1::RunState state);

// Follows run `id` until it ends, is interrupted or times out. A dropped stream is taken up again;
// when the daemon stays away: UNAVAILABLE / DAEMON_WENT_AWAY.
Result<WatchOutcome> WatchToEnd(Connection& connection, const std::string& id,
                                Interrupts& interrupts, const WatchOptions& options);

// Queues `spec` and follows it. Ctrl-C counts from the start of the call.
Result<WatchOutcome> RunToEnd(Connection& connection, const v1::RunSpec& spec,
                              Interrupts& interrupts, const WatchOptions& options);

}  // namespace tinyprof::client
