// A value with unit, source and quality, or its absence with a reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/counters/trust.h"

namespace tinyprof {

enum class Source {
  kPapi,       // hardware counters through PAPI
  kExecuted,   // instruction-exact counting
  kSoftware,   // kernel software events, or the clock
  kAnalytic,   // a formula over shapes
  kDerived,    // a formula over other quantities
  kPerfEvent,  // hardware counters of the kernel without PAPI
  kSimulated,  // a model of hardware, or a stand-in for it
};
// "papi", "executed", ...
constexpr std::string_view Name(Source source) {
  switch (source) {
    case Source::kPapi:
      return "papi";
    case Source::kExecuted:
      return "executed";
    case Source::kSoftware:
      return "software";
    case Source::kAnalytic:
      return "analytic";
    case Source::kDerived:
      return "derived";
    case Source::kPerfEvent:
      return "perf_event";
    case Source::kSimulated:
      return "simulated";
  }
  return "derived";
}

struct Quantity {
  std::optional<double> value;     // finite
  std::string unit;                // "flop", "cycle", "count", "byte", "ns", ...
  Source source = Source::kPapi;   // where it came from, or would have come from
  std::optional<Quality> quality;  // absent when the value is
  std::string reason;              // "CODE: sentence" when absent or suspect
  std::string formula;             // the events behind it; empty when absent
  std::string note;                // what to know beside it; may be empty, also when absent

  static Quantity Absent(std::string unit, Source source, std::string reason) {
    return {.unit = std::move(unit), .source = source, .reason = std::move(reason)};
  }
};

}  // namespace tinyprof
