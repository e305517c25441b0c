// Passes with counters: one group of events a pass, read at every layer's border.
//
// A group is counted at least kLeastPasses times. Passes are compared by the instructions they
// retired: one that is off by more than kMaxDrift did something else besides, and is counted again.
// A pass whose counters were lost, or ran backwards, or in which a thread moved to another CPU, is
// counted again too. What cannot be had in
// kMaxAttempts is absent or suspect, with the reason.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/counters/counter_backend.h"
#include "daemon/counters/counter_plan.h"
#include "daemon/measure/clock.h"
#include "daemon/measure/measure.h"
#include "daemon/measure/team_counters.h"
#include "daemon/measure/workload.h"
#include "kernels/base/error.h"

namespace tinyprof {

// The counts of one group. Both are clear of the cost of reading.
struct GroupSamples {
  size_t event_count = 0;
  // By pass; element node * event_count + event.
  std::vector<std::vector<double>> passes;
  std::string lost_reason;  // "CODE: sentence" when there are no passes
  std::string
      drift_reason;  // "ANCHOR_DRIFT: sentence" when passes differ and were kept nevertheless
};

struct CounterSamples {
  std::vector<GroupSamples> groups;  // as in the plan
  int32_t counting = 0;
  int32_t discarded = 0;
  std::map<std::string, int32_t> discarded_for;  // by reason: "MIGRATED", "ANCHOR_DRIFT", ...
  std::optional<CounterReadCost> read_cost;      // of the dearest group; absent when none counted
};

class CounterPasses {
 public:
  static constexpr size_t kLeastPasses = 3;
  static constexpr size_t kMostPasses = 5;  // while the budget lasts
  static constexpr size_t kMaxAttempts = 12;
  static constexpr double kMaxDrift = 0.03;

  // All but `current_cpu` outlive the object. `current_cpu` is called on every thread of the team,
  // and tells which CPU that thread is on; empty: the kernel tells.
  CounterPasses(Workload& workload, Clock& clock, CounterBackend& backend, const CounterPlan& plan,
                const MeasureOptions& options, const MeasureHooks& hooks,
                std::function<int()> current_cpu = {});

  // CANCELLED when the hook says so.
  Result<CounterSamples> Run(int64_t deadline_ns);

 private:
  struct Pass {
    std::vector<double> counts;
    std::optional<double> anchor;
  };

  Status CountGroup(size_t group, int64_t deadline_ns);
  // One pass with event sets of its own. `time_reads`: find out what reading costs, too.
  Result<Pass> CountOnce(size_t group, bool time_reads);
  // What one read adds to each event, over the team.
  Result<std::vector<double>> CalibrateRead(TeamCounters& team);
  Status TimeReads(TeamCounters& team);
  void Discard(const std::string& reason);
  Result<Pass> CountPass(TeamCounters& team, std::span<const double> read_cost,
                         std::optional<size_t> anchor);
  // Which passes agree in their anchor with the reference, or where there is none yet, with their
  // own median.
  std::vector<bool> Steady(const std::vector<Pass>& passes) const;
  void Keep(std::vector<Pass> passes, GroupSamples& samples);

  Workload& workload_;
  Clock& clock_;
  CounterBackend& backend_;
  const CounterPlan& plan_;
  const MeasureOptions& options_;
  const MeasureHooks& hooks_;
  std::function<int()> current_cpu_;
  CounterSamples result_;
  std::vector<int64_t> borders_;  // (node_count + 1) reads of the team
  std::optional<double> reference_anchor_;
};

}  // namespace tinyprof
