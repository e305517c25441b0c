// An event as perf_event_open takes it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace tinyprof {

// `type`, `config` and `config1` of perf_event_attr. Neither carries the privilege levels to count
// at; perf_event_attr has flags for those.
struct RawEvent {
  uint32_t type = kRaw;
  uint64_t config = 0;
  uint64_t config1 = 0;  // of Intel's off-core events: which requests and responses count

  // PERF_TYPE_* of linux/perf_event.h.
  static constexpr uint32_t kHardware = 0;
  static constexpr uint32_t kSoftware = 1;
  static constexpr uint32_t kHardwareCache = 3;
  static constexpr uint32_t kRaw = 4;
  friend bool operator==(const RawEvent&, const RawEvent&) = default;
};

// How this CPU counts an event, by the name that a formula gives it; absent: it is not known.
using RawEventResolver = std::function<std::optional<RawEvent>(std::string_view event)>;

}  // namespace tinyprof
