// What the daemon goes by when its counters task did not end well.
#pragma once

#include <chrono>
#include <optional>

#include "daemon/counters/counter_errors.h"
#include "kernels/base/error.h"
#include "worker.pb.h"

namespace tinyprof {

// Why no event may be opened any more, where opening them is what ended the worker: "SECCOMP",
// "CALIBRATION_STUCK" when it did not end within `timeout`, "CALIBRATION_CRASHED". Absent for what
// says nothing of events: a worker that could not be started or was ended from outside.
std::optional<Refusal> RefusalOfCounters(const Error& error, std::chrono::nanoseconds timeout);

// The result that stands for the one that could not be had.
worker::CountersResult UntriedCounters(const Refusal& why);

worker::EventsOff ToProto(const Refusal& why);

}  // namespace tinyprof
