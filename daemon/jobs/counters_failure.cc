#include "daemon/jobs/counters_failure.h"

#include <fmt/format.h>

#include "daemon/convert/counters.h"
#include "daemon/counters/counter_report.h"
#include "daemon/counters/system_facts.h"

namespace tinyprof {
namespace {

constexpr const char* kTryAgain = "tinyprof-client counters --calibrate";

// Without opening an event.
RefusalContext ContextOfThisProcess() { return ContextOf(GatherFacts({.events_off = Refusal{}})); }

}  // namespace

std::optional<Refusal> RefusalOfCounters(const Error& error, std::chrono::nanoseconds timeout) {
  if (error.reason == "SECCOMP") {
    RefusalContext context = ContextOfThisProcess();
    return SeccompRefusal("a seccomp filter ends a process that calls perf_event_open", context);
  }
  if (error.reason == "TIMEOUT") {
    return Refusal{"CALIBRATION_STUCK",
                   fmt::format("calibrating the counters did not end within {} s",
                               std::chrono::duration_cast<std::chrono::seconds>(timeout).count()),
                   kTryAgain};
  }
  if (error.reason == "WORKER_CRASHED" || error.reason == "WORKER_PROTOCOL") {
    return Refusal{"CALIBRATION_CRASHED",
                   fmt::format("calibrating the counters failed: {}", error.message), kTryAgain};
  }
  return std::nullopt;
}

worker::CountersResult UntriedCounters(const Refusal& why) {
  worker::CountersResult result;
  *result.mutable_counters() = ToProto(UntriedReport(why));
  return result;
}

worker::EventsOff ToProto(const Refusal& why) {
  worker::EventsOff message;
  message.set_reason(why.reason);
  message.set_sentence(why.sentence);
  message.set_fix(why.fix);
  return message;
}

}  // namespace tinyprof
