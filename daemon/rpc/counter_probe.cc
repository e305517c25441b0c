#include "daemon/rpc/counter_probe.h"

#include <fmt/format.h>

#include <chrono>

namespace tinyprof {
namespace {

constexpr std::chrono::milliseconds kTurnPollInterval{100};

tl::unexpected<Error> CallerGaveUp() {
  return Fail(ErrorCode::kCancelled, "CANCELLED", "the caller gave up");
}

}  // namespace

CounterProbe::CounterProbe(Probe probe, const Logger& logger)
    : probe_(std::move(probe)), logger_(logger) {}

CounterProbe::~CounterProbe() = default;

void CounterProbe::Start() {
  first_ = std::jthread([this](const std::stop_token& stop) {
    const auto counters = Get([&] { return stop.stop_requested(); });
    if (!counters) {
      if (!stop.stop_requested()) logger_.Failed("counters_not_probed", counters.error());
      return;
    }
    logger_.Info("counters_probed", {{"usable", counters->counters().usable() ? "yes" : "no"},
                                     {"pmu", counters->pmu()},
                                     {"reason", counters->counters().reason()}});
  });
}

Result<worker::CountersResult> CounterProbe::Get(const Abandoned& abandoned) {
  std::unique_lock probing(probing_mutex_, std::defer_lock);
  while (!probing.try_lock_for(kTurnPollInterval)) {
    if (auto known = Known()) return *std::move(known);
    if (abandoned && abandoned()) return CallerGaveUp();
  }
  if (auto known = Known()) return *std::move(known);
  return ProbeAndKeep(abandoned);
}

Result<worker::CountersResult> CounterProbe::Renew(const Abandoned& abandoned) {
  std::unique_lock probing(probing_mutex_, std::defer_lock);
  while (!probing.try_lock_for(kTurnPollInterval)) {
    if (abandoned && abandoned()) return CallerGaveUp();
  }
  return ProbeAndKeep(abandoned);
}

Result<worker::CountersResult> CounterProbe::ProbeAndKeep(const Abandoned& abandoned) {
  Result<worker::CountersResult> counters = probe_(abandoned);
  const std::lock_guard lock(known_mutex_);
  if (counters.has_value()) {
    last_ = {.found = *counters};
  } else if (counters.error().code != ErrorCode::kCancelled) {
    last_.failure = counters.error();
  }
  return counters;
}

void CounterProbe::Keep(worker::CountersResult counters) {
  const std::lock_guard lock(known_mutex_);
  last_ = {.found = std::move(counters)};
}

std::optional<worker::CountersResult> CounterProbe::Known() const { return Last().found; }

LastCalibration CounterProbe::Last() const {
  const std::lock_guard lock(known_mutex_);
  return last_;
}

Status RequireHardwareCounters(const worker::CountersResult& counters) {
  const v1::CounterReport& report = counters.counters();
  if (report.usable()) return {};
  return Fail(
      ErrorCode::kFailedPrecondition, "COUNTERS_UNAVAILABLE",
      fmt::format("hardware counters were asked for and this host had none when they were "
                  "calibrated ({}); `tinyprof-client doctor` says what mends it, "
                  "`tinyprof-client counters --calibrate` looks again, --counters auto runs "
                  "without them",
                  report.reason()),
      {{"why", report.reason()}});
}

}  // namespace tinyprof
