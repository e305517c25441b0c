// Checks of what the daemon itself needs: a worker, a calibration, a store. Pure.
#pragma once

#include <optional>
#include <string>

#include "daemon/counters/diagnosis.h"
#include "kernels/base/error.h"
#include "worker.pb.h"

namespace tinyprof {

// What the daemon's last attempt to calibrate gave. Neither: the first one has not ended yet.
struct LastCalibration {
  std::optional<worker::CountersResult> found;  // the last that ended
  std::optional<Error> failure;                 // of an attempt after that
};

// Why no event was tried, for the other checks, when the worker of the diagnosis ended with
// `error`. `facts`: of the daemon, without events.
Refusal WhyNotTried(const Error& error, const SystemFacts& facts);

// Whether a worker can be started and answers. `error`: how the one of the diagnosis ended; absent:
// well.
DiagnosticCheck CheckWorker(const std::optional<Error>& error, const SystemFacts& facts);

// Whether what was calibrated still holds. `unusable_now`: why no hardware event can be counted at
// present, "CODE: sentence", empty when they can; absent: that is not known.
DiagnosticCheck CheckCalibration(const LastCalibration& last,
                                 const std::optional<std::string>& unusable_now);

// `checked`: what Store::Check says.
DiagnosticCheck CheckStore(const Status& checked);

}  // namespace tinyprof
