#include "daemon/measure/measure_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/counters/counter_choices.h"
#include "daemon/measure/counter_passes.h"
#include "daemon/measure/counter_values.h"
#include "daemon/measure/plausibility.h"
#include "daemon/measure/software_monitor.h"
#include "daemon/measure/timing_passes.h"
#include "kernels/base/words.h"

namespace tinyprof {
namespace {

constexpr int64_t kMaxBudgetNs = int64_t{3600} * 1'000'000'000;
// Instrumented and bare passes alternate, so a difference beyond this is the instrument's.
constexpr double kMaxInstrumentedToBare = 0.02;
constexpr double kManyDiscarded = 0.1;

// Ends of the phases: counter passes have three tenths of the budget, memory traffic has one, of
// those three or of the rounds'. What does not count leaves its share to the rounds.
struct Deadlines {
  Deadlines(int64_t begin_ns, int64_t budget_ns, bool counting, bool traffic)
      : end_ns(begin_ns + budget_ns) {
    const int64_t tenth_ns = budget_ns / 10;
    counters_ns = end_ns - (traffic ? tenth_ns : 0);
    timing.warmup_ns = begin_ns + tenth_ns;
    timing.short_layers_ns = counting ? begin_ns + tenth_ns * 7 : counters_ns;
    timing.rounds_ns = timing.short_layers_ns - tenth_ns;
  }

  TimingDeadlines timing;
  int64_t counters_ns = 0;
  int64_t end_ns;
};

// In percent, with as many digits as show on which side of the precision it is.
std::string WidthText(double width, double precision) {
  for (int digits = 1;; ++digits) {
    const double scale = std::pow(10, digits);
    const double shown = std::round(width * 100 * scale) / scale;
    if (digits == 4 || (shown <= precision * 100) == (width <= precision)) {
      return fmt::format("± {:.{}f} %", shown, digits);
    }
  }
}

std::string BudgetWarning(const TimingResult& timing, const MeasureOptions& options) {
  const std::string ended = timing.reached_most_passes
                                ? fmt::format(
                                      "as many passes as a run of this model keeps ({}) "
                                      "were made",
                                      timing.timing)
                                : "the time budget ended";
  const bool bare_missed = timing.bare_half_width > options.precision;
  const bool instrumented_missed = timing.instrumented_half_width > options.precision;
  if (!bare_missed && !instrumented_missed) {
    return fmt::format("{} after {}, too few to know the precision", ended,
                       Counted(timing.timing, "pass", "passes"));
  }
  const std::string bare = WidthText(timing.bare_half_width, options.precision);
  const std::string instrumented = WidthText(timing.instrumented_half_width, options.precision);
  const std::string target = fmt::format("{:.4g} %", options.precision * 100);
  if (!bare_missed) {
    return fmt::format(
        "{} before the layers' times had the precision of {}: the median of passes with a clock "
        "read at every layer is known to {}; that of bare passes, to {}, had it",
        ended, target, instrumented, bare);
  }
  if (!instrumented_missed) {
    return fmt::format(
        "{} before the pass's time had the precision of {}: the median of bare passes is known to "
        "{}; that of passes with a clock read at every layer, to {}, had it",
        ended, target, bare, instrumented);
  }
  return fmt::format(
      "{} before the precision of {} was reached: the median is known to {}, that of passes with a "
      "clock read at every layer to {}",
      ended, target, bare, instrumented);
}

void WarnOfTiming(const TimingResult& timing, const MeasureOptions& options, RunMeasurement& run) {
  if (!timing.short_layers.empty()) {
    run.warnings.push_back(
        fmt::format("{} of {} layers {} shorter than {:.0f} clock reads ({:.0f} ns); {}",
                    timing.short_layers.size(), timing.layers.size(),
                    timing.short_layers.size() == 1 ? "is" : "are", TimingPasses::kShortLayerReads,
                    TimingPasses::kShortLayerReads * timing.read_cost_ns,
                    timing.repeated_short_layers
                        ? "their times are from repeating each of them back to back"
                        : "their times are uncertain, since repeating them would warm the caches"));
  }
  if (timing.never_quiet) {
    run.warnings.push_back(
        "other programs took a CPU away in almost every pass: the whole-pass times hold their work "
        "too, most of it in the time that no layer owns; measure again on a quiet machine");
  }
  if (timing.stopped_by == "budget") {
    run.warnings.push_back(BudgetWarning(timing, options));
  }
  if (std::abs(run.instrumented_to_bare - 1) > kMaxInstrumentedToBare) {
    run.warnings.push_back(fmt::format(
        "passes with a clock read at every layer took {:.3f} times as long as bare ones, so the "
        "time that no layer owns holds the difference",
        run.instrumented_to_bare));
  }
}

// `empty` are one layer on one thread, and where there is a team, one on all.
void TakeDispatchCost(const std::vector<TimeStats>& empty, RunMeasurement& run) {
  if (empty.empty()) return;
  const bool seen = std::all_of(empty.begin(), empty.end(),
                                [](const TimeStats& layer) { return layer.median_ns > 0; });
  if (!seen) {
    run.warnings.push_back(NoDispatchWarning("the clock is too coarse for it"));
    return;
  }
  run.dispatch_cost = DispatchCost{.alone_ns = empty[0].median_ns, .team_ns = {}};
  if (empty.size() > 1) run.dispatch_cost->team_ns = empty[1].median_ns;
}

void TakeTiming(TimingResult&& timing, const MeasureOptions& options, RunMeasurement& run) {
  run.time = timing.time;
  run.instrumented_pass_ns = timing.instrumented_pass_ns;
  run.read_cost_ns = timing.read_cost_ns;
  run.instrumented_to_bare =
      run.time.median_ns > 0 ? timing.instrumented_pass_ns / run.time.median_ns : 1;
  run.unattributed_ns = timing.time.median_ns;
  for (TimeStats& layer : timing.layers) {
    run.unattributed_ns -= layer.median_ns;
    run.layers.push_back({.time = layer});
  }
  run.passes.warmup = timing.warmup;
  run.passes.timing = timing.timing;
  run.passes.discarded = timing.discarded;
  run.stopped_by = timing.stopped_by;
  TakeDispatchCost(timing.empty_layers, run);
  WarnOfTiming(timing, options, run);
}

// `run` has its times. A stand-in's cycles are declared, whatever time the work takes.
PassFacts FactsOf(const RunMeasurement& run, const Workload& workload, int threads,
                  std::optional<double> clock_hz, Source source) {
  PassFacts facts{.pass_ns = run.time.median_ns, .threads = threads};
  if (source != Source::kSimulated) facts.clock_hz = clock_hz;
  for (size_t node = 0; node < run.layers.size(); ++node) {
    facts.layer_ns.push_back(run.layers[node].time.median_ns);
    facts.work.push_back(workload.work(node));
  }
  return facts;
}

void TakeCounts(const CounterPlan& plan, const CounterSamples& samples, const PassFacts& facts,
                Source source, RunMeasurement& run) {
  std::vector<CounterValues> layers = LayerValues(plan, samples, run.layers.size(), source);
  const std::vector<Doubt> doubts = RemoveImplausible(plan, samples, facts, layers);
  for (const Doubt& doubt : doubts) run.doubted_metrics.insert(doubt.metric);
  if (!doubts.empty()) run.warnings.push_back(DescribeDoubts(doubts));
  run.totals = SumOverLayers(layers, AbsentValues(kNoLayersReason, source));
  for (size_t node = 0; node < layers.size(); ++node) {
    run.layers[node].counters = layers[node];
  }
  run.passes.counting = samples.counting;
  run.passes.discarded += samples.discarded;
  run.passes.discarded_for = samples.discarded_for;
  run.counter_read_cost = samples.read_cost;
}

tl::unexpected<Error> CountersUnavailable(const std::string& reason) {
  return Fail(ErrorCode::kFailedPrecondition, "COUNTERS_UNAVAILABLE",
              fmt::format("hardware counters were asked for and cannot be had: {}", reason),
              {{"cause", reason}});
}

// Who asked for hardware counters is not served by a run in which none counted.
Status CheckAnyCounted(const MeasureOptions& options, const RunMeasurement& run) {
  CounterValues totals = run.totals;
  const bool any = std::any_of(kMetrics.begin(), kMetrics.end(),
                               [&](Metric metric) { return At(totals, metric).value.has_value(); });
  if (any || options.counters != CounterMode::kPapi || run.layers.empty()) return {};
  return CountersUnavailable(MoreHelpful(totals.instructions.reason, totals.cycles.reason));
}

void TakeNoCounts(const CounterValues& absent, RunMeasurement& run) {
  run.totals = absent;
  for (LayerMeasurement& layer : run.layers) {
    layer.counters = absent;
  }
  run.counter_source = "none";
}

void WarnOfDiscarded(RunMeasurement& run) {
  const int32_t kept = run.passes.timing + run.passes.counting;
  if (run.passes.discarded > kManyDiscarded * kept) {
    std::string reasons;
    for (const auto& [reason, count] : run.passes.discarded_for) {
      reasons += fmt::format("; {} while counting for {}", count, reason);
    }
    run.warnings.push_back(
        fmt::format("{} thrown away beside {} kept (moved to another CPU, preempted by other "
                    "programs, counters lost, or different work{})",
                    Counted(run.passes.discarded, "pass was", "passes were"), kept, reasons));
  }
}

}  // namespace

std::string NoDispatchWarning(std::string_view why) {
  return fmt::format(
      "what starting a layer takes could not be measured ({}), so no layer with work is labelled "
      "overhead, and none has advice on its kernel",
      why);
}

Status CheckOptions(const MeasureOptions& options) {
  if (options.threads < 1) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_THREADS",
                fmt::format("threads must be at least 1, got {}", options.threads));
  }
  if (!(options.precision > 0 && options.precision <= 1)) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_PRECISION",
                fmt::format("precision must be over 0 and at most 1, got {}", options.precision));
  }
  if (options.time_budget_ns < 0 || options.time_budget_ns > kMaxBudgetNs) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_BUDGET",
                fmt::format("the time budget must be 0 to {} ns, got {}", kMaxBudgetNs,
                            options.time_budget_ns));
  }
  return {};
}

Result<RunMeasurement> MeasureWorkload(Workload& workload, Clock& clock, Instruments instruments,
                                       const MeasureOptions& options, const MeasureHooks& hooks) {
  TINYPROF_RETURN_IF_ERROR(CheckOptions(options));
  const std::string& unusable_reason = instruments.plan.unusable_reason;
  const bool counting = options.counters != CounterMode::kNone && unusable_reason.empty();
  if (options.counters == CounterMode::kPapi && !counting) {
    return CountersUnavailable(unusable_reason);
  }
  MemoryTrafficPasses traffic(workload, clock, instruments.memory, options, hooks);
  const Deadlines deadlines(clock.NowNs(), options.time_budget_ns, counting, traffic.available());
  RunMeasurement run;
  {
    SoftwareMonitor monitor(std::move(instruments.software), options.threads);
    TimingPasses passes(workload, instruments.empty_layers, clock, monitor, instruments.preemptions,
                        options, hooks);
    TINYPROF_ASSIGN_OR_RETURN(TimingResult timing, passes.Run(deadlines.timing));
    TakeTiming(std::move(timing), options, run);
    run.software = monitor.Summary();
  }
  const Source source = SourceOf(instruments.counters.info());
  if (counting) {
    CounterPasses passes(workload, clock, instruments.counters, instruments.plan, options, hooks);
    TINYPROF_ASSIGN_OR_RETURN(const CounterSamples samples, passes.Run(deadlines.counters_ns));
    const PassFacts facts = FactsOf(run, workload, options.threads, instruments.clock_hz, source);
    TakeCounts(instruments.plan, samples, facts, source, run);
    TINYPROF_RETURN_IF_ERROR(CheckAnyCounted(options, run));
    run.counter_source = Name(source);
  } else if (options.counters == CounterMode::kNone) {
    TakeNoCounts(AbsentValues(kNotAskedReason, source), run);
  } else {
    TakeNoCounts(AbsentValues(instruments.plan, source), run);
  }
  WarnOfDiscarded(run);
  TINYPROF_ASSIGN_OR_RETURN(Quantity sockets, traffic.Run(deadlines.end_ns));
  run.totals.dram_bytes = PreferSocketTraffic(std::move(sockets), run.totals.dram_bytes);
  run.passes.counting += traffic.pass_count();
  return run;
}

}  // namespace tinyprof
