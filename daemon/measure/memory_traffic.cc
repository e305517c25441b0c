#include "daemon/measure/memory_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string_view>
#include <thread>
#include <utility>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/event_catalogue.h"
#include "daemon/counters/simulated_pmu.h"
#include "daemon/counters/system_facts.h"
#include "daemon/measure/counter_values.h"
#include "daemon/measure/timing_passes.h"

namespace tinyprof {
namespace {

constexpr std::string_view kColdReason =
    "COLD_PASSES: flushing the caches before each pass moves memory too, some of it while the pass "
    "runs, and memory controllers cannot tell it from the pass";

// Whether no other setting of the machine would make the sockets count.
bool CannotBeMended(std::string_view sockets_reason) {
  constexpr std::array<std::string_view, 3> kFinal = {
      "NO_UNCORE: ", "COLD_PASSES: ", "NO_LAYERS: "};
  return std::any_of(kFinal.begin(), kFinal.end(),
                     [&](std::string_view reason) { return sockets_reason.starts_with(reason); });
}

double Total(const MemoryBytes& bytes) { return bytes.read + bytes.written; }

}  // namespace

MemoryControllers HostMemoryControllers() {
  return {
      .open = [context = ContextOf(GatherFacts({}))] { return UncoreMemoryTraffic::Open(context); },
      .sleep = [](int64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); },
      .source = PmuIsSimulated() ? Source::kSimulated : Source::kPerfEvent};
}

MemoryTrafficPasses::MemoryTrafficPasses(Workload& workload, Clock& clock,
                                         const MemoryControllers& controllers,
                                         const MeasureOptions& options, const MeasureHooks& hooks)
    : workload_(workload),
      clock_(clock),
      controllers_(controllers),
      options_(options),
      hooks_(hooks),
      unavailable_reason_(WhyUnavailable()) {}

std::string MemoryTrafficPasses::WhyUnavailable() const {
  if (options_.counters == CounterMode::kNone) {
    return std::string(kNotAskedReason);
  }
  if (workload_.node_count() == 0) {
    return std::string(kNoLayersReason);
  }
  if (options_.cache == CacheMode::kCold) {
    return std::string(kColdReason);
  }
  const auto memory = controllers_.open();
  return memory.has_value() ? "" : ReasonOf(memory.error());
}

Result<Quantity> MemoryTrafficPasses::Run(int64_t deadline_ns) {
  const auto absent = [&](std::string reason) {
    return Quantity::Absent(std::string(Unit(Metric::kDramBytes)), controllers_.source,
                            std::move(reason));
  };
  if (!available()) {
    return absent(unavailable_reason_);
  }
  if (hooks_.progress) {
    hooks_.progress({.phase = "counting"});
  }
  Result<Quantity> counted = Count(deadline_ns);
  if (counted.has_value() || counted.error().code == ErrorCode::kCancelled) {
    return counted;
  }
  pass_count_ = 0;
  return absent(ReasonOf(counted.error()));
}

Result<Quantity> MemoryTrafficPasses::Count(int64_t deadline_ns) {
  TINYPROF_ASSIGN_OR_RETURN(const std::unique_ptr<UncoreMemoryTraffic> memory, controllers_.open());
  const int64_t rest_ns = std::clamp((deadline_ns - clock_.NowNs()) / 10, kLeastIdleNs, kIdleNs);
  TINYPROF_ASSIGN_OR_RETURN(const Stretch before, Rest(rest_ns, *memory));
  TINYPROF_ASSIGN_OR_RETURN(const Stretch busy, Passes(deadline_ns - rest_ns, *memory));
  TINYPROF_ASSIGN_OR_RETURN(const Stretch after, Rest(rest_ns, *memory));
  const MemoryBytes idle = {.read = before.bytes.read + after.bytes.read,
                            .written = before.bytes.written + after.bytes.written};
  TINYPROF_ASSIGN_OR_RETURN(const MemoryBytes moved,
                            SubtractIdle(busy.bytes, busy.s, idle, before.s + after.s));
  Quantity quantity = PerPass(moved, before, busy, after);
  quantity.formula = memory->Describe();
  return quantity;
}

Result<MemoryTrafficPasses::Moment> MemoryTrafficPasses::Look(UncoreMemoryTraffic& memory) {
  // The clock comes first at both ends of a stretch, so that the time of reading cancels out.
  const int64_t now_ns = clock_.NowNs();
  TINYPROF_ASSIGN_OR_RETURN(const MemoryBytes bytes, memory.Read());
  return Moment{.ns = now_ns, .bytes = bytes};
}

Result<MemoryTrafficPasses::Stretch> MemoryTrafficPasses::Since(const Moment& begin,
                                                                UncoreMemoryTraffic& memory) {
  TINYPROF_ASSIGN_OR_RETURN(const Moment end, Look(memory));
  return Stretch{.s = static_cast<double>(end.ns - begin.ns) / 1e9,
                 .bytes = {.read = end.bytes.read - begin.bytes.read,
                           .written = end.bytes.written - begin.bytes.written}};
}

Result<MemoryTrafficPasses::Stretch> MemoryTrafficPasses::Rest(int64_t ns,
                                                               UncoreMemoryTraffic& memory) {
  TINYPROF_RETURN_IF_ERROR(CheckCancelled(hooks_));
  TINYPROF_ASSIGN_OR_RETURN(const Moment begin, Look(memory));
  controllers_.sleep(ns);
  return Since(begin, memory);
}

Result<MemoryTrafficPasses::Stretch> MemoryTrafficPasses::Passes(int64_t deadline_ns,
                                                                 UncoreMemoryTraffic& memory) {
  // While the team slept, others may have taken the caches.
  workload_.RunAll();
  TINYPROF_ASSIGN_OR_RETURN(const Moment begin, Look(memory));
  int64_t now_ns = 0;
  do {
    TINYPROF_RETURN_IF_ERROR(CheckCancelled(hooks_));
    workload_.RunAll();
    ++pass_count_;
    now_ns = clock_.NowNs();
  } while (now_ns - begin.ns < kLeastBusyNs ||
           (now_ns - begin.ns < kBusyNs && now_ns < deadline_ns));
  return Since(begin, memory);
}

Quantity MemoryTrafficPasses::PerPass(const MemoryBytes& moved, const Stretch& before,
                                      const Stretch& busy, const Stretch& after) const {
  Quantity quantity{.value = Total(moved) / pass_count_,
                    .unit = std::string(Unit(Metric::kDramBytes)),
                    .source = controllers_.source,
                    .quality = Quality::kGood,
                    .note = std::string(kWholeSocketNote)};
  const double before_rate = Total(before.bytes) / before.s;
  const double after_rate = Total(after.bytes) / after.s;
  if (std::abs(after_rate - before_rate) * busy.s > kMaxUnrest * Total(moved)) {
    quantity.quality = Quality::kSuspect;
    quantity.reason = fmt::format(
        "NOISY_SOCKET: at rest the sockets moved {:.3g} MB/s before the passes and {:.3g} MB/s "
        "after them, a difference too large beside the {:.3g} MB/s of the passes",
        before_rate / 1e6, after_rate / 1e6, Total(moved) / busy.s / 1e6);
  }
  return quantity;
}

Quantity PreferSocketTraffic(Quantity sockets, Quantity estimate) {
  if (sockets.value.has_value()) {
    return sockets;
  }
  if (sockets.reason == estimate.reason) {
    return estimate;
  }
  if (estimate.value.has_value()) {
    estimate.note = std::move(sockets.reason);
    return estimate;
  }
  // That no event of a thread counts memory does not say why nothing does.
  const bool estimate_first =
      CannotBeMended(sockets.reason) && !estimate.reason.starts_with("NOT_PER_THREAD: ");
  Quantity& kept = estimate_first ? estimate : sockets;
  const Quantity& other = estimate_first ? sockets : estimate;
  kept.note = other.reason;
  return std::move(kept);
}

}  // namespace tinyprof
