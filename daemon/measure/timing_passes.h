// The timed passes of a run: first, warm-up, rounds of bare and instrumented passes, and short
// layers again by repeating. Layers without work come after the last layer of an instrumented pass,
// outside of its time, for some ms of the run altogether; they are timed as the others are, since
// what starting a layer takes depends on what ran before it, and on how often it is repeated. No
// call of a hook, allocation or read of a counter happens within a timed pass.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daemon/measure/clock.h"
#include "daemon/measure/measure.h"
#include "daemon/measure/software_monitor.h"
#include "daemon/measure/stopping_rule.h"
#include "daemon/measure/workload.h"
#include "kernels/base/error.h"

namespace tinyprof {

// Clock times at which phases end; each still makes its least number of passes.
struct TimingDeadlines {
  int64_t warmup_ns = 0;
  int64_t rounds_ns = 0;
  int64_t short_layers_ns = 0;
};

struct TimingResult {
  TimeStats time;
  std::vector<TimeStats> layers;
  std::vector<TimeStats> empty_layers;
  double instrumented_pass_ns = 0;
  double read_cost_ns = 0;
  int32_t warmup = 0;
  int32_t timing = 0;
  int32_t discarded = 0;
  std::string stopped_by;
  // Half the interval of the median over the median, of bare and of instrumented passes.
  double bare_half_width = 0;
  double instrumented_half_width = 0;
  bool reached_most_passes = false;  // instead of the deadline
  std::vector<size_t> short_layers;  // shorter than kShortLayerReads clock reads
  bool repeated_short_layers = false;
  bool never_quiet = false;  // disturbed rounds are in the figures, for want of quiet ones
};

// Involuntary context switches of this process so far; empty: nobody watches.
using PreemptionCounter = std::function<int64_t()>;

// Rounds come in two kinds: quiet ones, and disturbed ones, in which the process was moved to
// another CPU or another program took a CPU away. With enough quiet rounds the disturbed ones are
// thrown away and counted; on a machine too busy for that, all rounds are kept.
class TimingPasses {
 public:
  // A read's cost varies by some tens of percent, which is below 1 % of a layer of this many reads.
  static constexpr double kShortLayerReads = 100;

  // All arguments outlive the object. `empty_layers` have no work (empty_layers.h); null: none are
  // timed. `software` watches the bare passes.
  TimingPasses(Workload& workload, Workload* empty_layers, Clock& clock, SoftwareMonitor& software,
               const PreemptionCounter& preemptions, const MeasureOptions& options,
               const MeasureHooks& hooks);

  // CANCELLED when the hook says so.
  Result<TimingResult> Run(const TimingDeadlines& deadlines);

 private:
  struct Samples {
    std::vector<double> bare_ns;                // by pass
    std::vector<double> instrumented_ns;        // by pass
    std::vector<std::vector<double>> layer_ns;  // by node, by pass
  };

  void FirstPass();
  Status WarmUp(int64_t deadline_ns);
  Status Rounds(int64_t deadline_ns);
  Status ShortLayers(int64_t deadline_ns);
  // One bare and one instrumented pass.
  void Round();
  // The kind of round that results are made of, as far as it is known.
  const Samples& Judged() const;
  void ChooseSamples();
  int64_t Preemptions() const { return preemptions_ ? preemptions_() : 0; }
  // After a round that has been judged.
  void TimeEmptyLayers();
  // The layers of the workload have the first positions, the empty ones those after.
  void RunAt(size_t position);
  // One pass in which the layer at a position runs repeats[position] times.
  void RepeatingPass(const std::vector<int64_t>& repeats);
  void Prepare();
  void SummarizeLayers();
  bool IsShort(const TimeStats& layer) const {
    return layer.median_ns < kShortLayerReads * result_.read_cost_ns;
  }
  void ReportProgress(std::string_view phase, int done, double precision_reached);

  Workload& workload_;
  Workload* empty_layers_;
  Clock& clock_;
  SoftwareMonitor& software_;
  const PreemptionCounter& preemptions_;
  const MeasureOptions& options_;
  const MeasureHooks& hooks_;
  TimingResult result_;
  size_t position_count_;
  std::vector<int64_t> stamps_ns_;             // node_count + 1
  std::vector<std::vector<double>> empty_ns_;  // by empty layer, by round
  int64_t empty_spent_ns_ = 0;
  Samples quiet_;
  Samples disturbed_;
  std::vector<std::vector<double>> repeated_ns_;  // by position, by pass; empty for long ones
  std::vector<TimeStats> summaries_;              // by position
  std::vector<double> first_layer_ns_;            // by node
  int64_t last_progress_ns_ = 0;
};

// CANCELLED / "CANCELLED" when the hook says so.
Status CheckCancelled(const MeasureHooks& hooks);

}  // namespace tinyprof
