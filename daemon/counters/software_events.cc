#include "daemon/counters/software_events.h"

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/perf/perf_backend.h"
#include "daemon/counters/try_group.h"

namespace tinyprof {
namespace {

void TryEach(CounterBackend& backend, SoftwarePlan& plan) {
  for (size_t i = 0; i < kSoftwareEvents.size(); ++i) {
    std::vector<std::string> wanted = plan.events;
    wanted.emplace_back(kSoftwareEvents[i].event);
    if (const Status tried = TryGroup(backend, wanted); tried.has_value()) {
      plan.index[i] = plan.events.size();
      plan.events = std::move(wanted);
    } else {
      plan.reasons[i] = ReasonOf(tried.error());
    }
  }
}

}  // namespace

SoftwarePlan PlanSoftwareEvents(CounterBackend& preferred, int max_threads) {
  SoftwarePlan plan;
  TryEach(preferred, plan);
  if (!plan.events.empty()) {
    plan.backend = &preferred;
    return plan;
  }
  plan.owned = MakeSoftwareBackend(max_threads);
  plan.reasons = {};
  TryEach(*plan.owned, plan);
  plan.backend = plan.events.empty() ? nullptr : plan.owned.get();
  return plan;
}

}  // namespace tinyprof
