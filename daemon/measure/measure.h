// Measures one session: time of the whole pass and of every layer, and counts of every layer.
//
// Order: a first pass, kept apart; warm-up; rounds of one bare pass (nothing but two clock reads
// around it) and one instrumented pass (a clock read at each layer's border), in turns so that both
// see the same machine; short layers again, repeated within one pair of clock reads, and
// with them layers without work (empty_layers.h); counter passes, one group of events each; passes
// back to back for the memory traffic of whole sockets (memory_traffic.h). Rounds end when the
// confidence intervals are within the precision, or their share of the budget is spent.
//
// Times add up by construction: unattributed_ns is the median of the bare passes less the
// sum of the layers' medians. It holds what no layer owns, and, where layers are measured by
// repeating, what they cost more within a pass than warm from their own last run.
//
// Called by the thread that made the session, the master of the pinned OpenMP team.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/counters/counter_backend.h"
#include "daemon/counters/counter_report.h"
#include "daemon/counters/event_catalogue.h"
#include "daemon/measure/quantity.h"
#include "daemon/measure/statistics.h"
#include "kernels/base/error.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

enum class CacheMode {
  kWarm,  // passes run back to back
  kCold,  // weights and activations are flushed from the caches before each pass
};
enum class CounterMode {
  kAuto,  // what the host can count; what it cannot is absent with a reason
  kPapi,  // hardware counters or an error
  kNone,  // time only
};

struct MeasureOptions {
  int threads = 1;
  std::vector<int> cpus;  // thread i runs on cpus[i]
  CacheMode cache = CacheMode::kWarm;
  CounterMode counters = CounterMode::kAuto;
  double precision = 0.01;  // half-width of the median's confidence interval over the median
  int64_t time_budget_ns =
      10'000'000'000;  // of all passes; at least 3 passes of each kind are made
  // What an earlier calibration found on this host; absent, or of another backend or PMU: counters
  // are calibrated before the first pass, which takes up to two seconds beside the budget.
  std::optional<CounterReport> known_counters;
};

struct ProgressUpdate {
  std::string_view phase;  // "warm-up", "timing", "counting"
  int done = 0;
  int total = 0;                 // 0 when it is not known
  double precision_reached = 0;  // 0 to 1, while timing
};

// None is called within a timed pass. Any may be empty.
struct MeasureHooks {
  std::function<void(const ProgressUpdate&)> progress;
  std::function<void(size_t node)> entering_layer_first_time;
  std::function<bool()> cancelled;
};

// Counts of one pass, each a sum over the threads of the team.
struct CounterValues {
  Quantity flops;
  Quantity cycles;
  Quantity instructions;
  Quantity l1d_misses;
  Quantity l2_misses;
  Quantity l3_misses;
  Quantity dram_bytes;
  Quantity flops_single;
  Quantity flops_double;
  Quantity stall_cycles;
  Quantity branch_misses;
  Quantity dtlb_misses;
};

// Per bare pass, over the team.
struct SoftwareEvents {
  Quantity task_clock;
  Quantity page_faults;
  Quantity context_switches;
  Quantity migrations;
};

struct Passes {
  int32_t warmup = 0;
  int32_t timing = 0;    // bare passes that were timed
  int32_t counting = 0;  // passes with counters that were kept, of cores or memory controllers
  int32_t discarded = 0;
  // Counting passes that were thrown away, by reason: "MIGRATED", "ANCHOR_DRIFT", ...
  std::map<std::string, int32_t> discarded_for;
};

// What reading the counters at one layer's border takes, ns.
struct CounterReadCost {
  double per_border_ns = 0;  // of the team, with the parallel region in which it reads
  double per_thread_ns = 0;  // of one thread's read alone; the slowest thread
  int32_t event_count = 0;   // of the group that was read, the dearest of the run

  friend bool operator==(const CounterReadCost&, const CounterReadCost&) = default;
};

// What starting a layer takes when it has no work (empty_layers.h), ns, both over 0.
struct DispatchCost {
  double alone_ns = 0;            // on the calling thread
  std::optional<double> team_ns;  // with the fork and join of the team; absent for one thread

  friend bool operator==(const DispatchCost&, const DispatchCost&) = default;
};

struct MachineState {
  double clock_hz = 0;  // core clock by a dependent-add chain
  double load_average = 0;
  std::optional<double> ping_pong_before_ns;  // absent for one thread
  std::optional<double> ping_pong_after_ns;
  std::string huge_pages;          // "always", "madvise", "never"; empty: the kernel does not tell
  std::optional<double> steal_ns;  // absent when the kernel does not say
};

struct LayerMeasurement {
  TimeStats time;
  CounterValues counters;
};

struct RunMeasurement {
  TimeStats time;                   // bare whole passes
  double instrumented_pass_ns = 0;  // median, clock reads subtracted
  double unattributed_ns = 0;       // time.median_ns - sum of the layers' medians
  double read_cost_ns = 0;          // one clock read
  // One read of the counters, in counting passes only; absent when nothing was counted.
  std::optional<CounterReadCost> counter_read_cost;
  std::optional<DispatchCost> dispatch_cost;  // absent: a warning says why
  double instrumented_to_bare = 0;            // instrumented_pass_ns / time.median_ns
  std::vector<LayerMeasurement> layers;       // by node
  // Sums over the layers; but dram_bytes, where the memory controllers can be read, is what they
  // counted for whole sockets.
  CounterValues totals;
  SoftwareEvents software;
  Passes passes;
  MachineState machine;
  std::vector<std::string> warnings;  // one sentence each
  std::string stopped_by;             // "precision" or "budget"
  std::string counter_source;         // "papi", "simulated" or "none"
  int64_t max_resident_bytes = 0;
  // Whose counts cannot be right (plausibility.h), though known work was counted as it should.
  std::set<Metric> doubted_metrics;
  std::optional<TrustTable> trust;  // that the counts rest on; absent with CounterMode::kNone
};

// FAILED_PRECONDITION / "COUNTERS_UNAVAILABLE" for CounterMode::kPapi where no hardware event can
// be counted, before anything is measured, or where none was; CANCELLED / "CANCELLED" soon after
// hooks.cancelled says so; INVALID_ARGUMENT for options out of range.
Result<RunMeasurement> Measure(Session& session, CounterBackend& counters,
                               const MeasureOptions& options, const MeasureHooks& hooks);

}  // namespace tinyprof
