// A plan whose calibration always ends, however slow the machine or a sanitizer makes it.
#pragma once

#include <cstdint>

#include "daemon/counters/counter_plan.h"
#include "daemon/counters/known_work.h"

namespace tinyprof {

inline CounterPlan PlanAtLeisure(CounterBackend& backend) {
  constexpr int64_t kBudgetNs = 300'000'000'000;
  return PlanCounters(backend, HostKnownWork(), {.budget_ns = kBudgetNs});
}

}  // namespace tinyprof
