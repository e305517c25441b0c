// The kernel's software events over the timed passes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "daemon/counters/software_events.h"
#include "daemon/measure/measure.h"
#include "daemon/measure/team_counters.h"

namespace tinyprof {

class SoftwareMonitor {
 public:
  // Opens what can be counted; what cannot is absent, with a reason, in Summary().
  SoftwareMonitor(SoftwarePlan plan, int threads);

  void BeginPass();
  // Whether the pass stayed on its CPUs. A pass that did not is left out of the summary.
  bool EndPass();

  // Means over the passes that were kept. Of the CPU time, what the readings themselves take is
  // left out.
  SoftwareEvents Summary() const;

 private:
  using Totals = std::array<int64_t, kSoftwareEvents.size()>;

  // The CPU time of nothing between two readings.
  int64_t ReadingNs();
  bool Read(std::vector<int64_t>& values);
  // The difference of both reads, summed over threads.
  int64_t Delta(size_t metric) const;
  Quantity Mean(size_t metric) const;

  SoftwarePlan plan_;
  TeamCounters team_;
  std::vector<int64_t> before_;
  std::vector<int64_t> after_;
  int64_t reading_ns_ = 0;
  bool pass_valid_ = false;
  Totals totals_{};
  int64_t passes_ = 0;
};

}  // namespace tinyprof
