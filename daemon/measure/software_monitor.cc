#include "daemon/measure/software_monitor.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/perf/perf_backend.h"

namespace tinyprof {
namespace {

constexpr int kTrialReadings = 16;

// A backend that is there to be opened for no event, where nobody counts any.
CounterBackend& BackendOf(SoftwarePlan& plan) {
  if (plan.backend == nullptr) {
    plan.owned = MakeSoftwareBackend(1);
    plan.backend = plan.owned.get();
  }
  return *plan.backend;
}

}  // namespace

SoftwareMonitor::SoftwareMonitor(SoftwarePlan plan, int threads)
    : plan_(std::move(plan)), team_(BackendOf(plan_), threads) {
  if (plan_.events.empty()) {
    return;
  }
  if (const Status opened = team_.Open(plan_.events); !opened.has_value()) {
    plan_.index = {};
    plan_.reasons.fill(ReasonOf(opened.error()));
    plan_.events.clear();
    return;
  }
  before_.resize(team_.value_count());
  after_.resize(team_.value_count());
  reading_ns_ = ReadingNs();
}

int64_t SoftwareMonitor::ReadingNs() {
  if (!plan_.index[kTaskClock].has_value()) {
    return 0;
  }
  std::optional<int64_t> least;
  for (int i = 0; i < kTrialReadings; ++i) {
    if (Read(before_) && Read(after_)) {
      least = std::min(least.value_or(INT64_MAX), Delta(kTaskClock));
    }
  }
  return std::max<int64_t>(0, least.value_or(0));
}

bool SoftwareMonitor::Read(std::vector<int64_t>& values) {
  return !plan_.events.empty() && team_.Read(values).has_value();
}

void SoftwareMonitor::BeginPass() { pass_valid_ = Read(before_); }

int64_t SoftwareMonitor::Delta(size_t metric) const {
  int64_t sum = 0;
  for (size_t at = *plan_.index[metric]; at < before_.size(); at += team_.event_count()) {
    sum += after_[at] - before_[at];
  }
  return sum;
}

bool SoftwareMonitor::EndPass() {
  if (!pass_valid_ || !Read(after_)) {
    return true;
  }
  if (plan_.index[kMigrations].has_value() && Delta(kMigrations) != 0) {
    return false;
  }
  for (size_t metric = 0; metric < totals_.size(); ++metric) {
    if (plan_.index[metric].has_value()) {
      const int64_t readings = metric == kTaskClock ? reading_ns_ : 0;
      totals_[metric] += std::max<int64_t>(0, Delta(metric) - readings);
    }
  }
  ++passes_;
  return true;
}

Quantity SoftwareMonitor::Mean(size_t metric) const {
  const SoftwareEvent& event = kSoftwareEvents[metric];
  const std::string unit(event.unit);
  if (!plan_.index[metric].has_value()) {
    return Quantity::Absent(unit, Source::kSoftware, plan_.reasons[metric]);
  }
  if (passes_ == 0) {
    return Quantity::Absent(unit, Source::kSoftware,
                            "COUNTERS_LOST: the kernel gave no counts over any whole pass");
  }
  return {.value = static_cast<double>(totals_[metric]) / static_cast<double>(passes_),
          .unit = unit,
          .source = Source::kSoftware,
          .quality = Quality::kGood,
          .formula = std::string(event.event)};
}

SoftwareEvents SoftwareMonitor::Summary() const {
  return {.task_clock = Mean(kTaskClock),
          .page_faults = Mean(kPageFaults),
          .context_switches = Mean(kContextSwitches),
          .migrations = Mean(kMigrations)};
}

}  // namespace tinyprof
