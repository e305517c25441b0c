#include "daemon/measure/counter_passes.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>

#include "daemon/counters/counter_errors.h"
#include "daemon/measure/statistics.h"
#include "daemon/measure/timing_passes.h"

namespace tinyprof {
namespace {

constexpr size_t kCalibrationReads = 33;
constexpr int kTimedReads = 32;  // of the team, and of each thread

// The difference of two reads of a team for one event, summed over threads.
Result<double> Difference(std::span<const int64_t> before, std::span<const int64_t> after,
                          size_t event, size_t event_count) {
  double sum = 0;
  for (size_t at = event; at < before.size(); at += event_count) {
    if (before[at] == CounterBackend::kUntouched || after[at] == CounterBackend::kUntouched) {
      return Fail(ErrorCode::kAborted, "COUNTERS_LOST", "a counter was not read while it counted");
    }
    if (after[at] < before[at]) {
      return Fail(ErrorCode::kAborted, "COUNTERS_LOST", "a counter ran backwards within a pass");
    }
    sum += static_cast<double>(after[at] - before[at]);
  }
  return sum;
}

}  // namespace

CounterPasses::CounterPasses(Workload& workload, Clock& clock, CounterBackend& backend,
                             const CounterPlan& plan, const MeasureOptions& options,
                             const MeasureHooks& hooks, std::function<int()> current_cpu)
    : workload_(workload),
      clock_(clock),
      backend_(backend),
      plan_(plan),
      options_(options),
      hooks_(hooks),
      current_cpu_(current_cpu ? std::move(current_cpu) : std::function<int()>(sched_getcpu)) {}

Result<CounterSamples> CounterPasses::Run(int64_t deadline_ns) {
  result_ = {};
  result_.groups.resize(plan_.groups.size());
  for (size_t group = 0; group < plan_.groups.size(); ++group) {
    const int64_t left_ns = std::max<int64_t>(0, deadline_ns - clock_.NowNs());
    const auto groups_left = static_cast<int64_t>(plan_.groups.size() - group);
    TINYPROF_RETURN_IF_ERROR(CountGroup(group, clock_.NowNs() + left_ns / groups_left));
  }
  return std::move(result_);
}

Status CounterPasses::CountGroup(size_t group, int64_t deadline_ns) {
  GroupSamples& samples = result_.groups[group];
  samples.event_count = plan_.groups[group].size();
  std::vector<Pass> passes;
  std::vector<bool> steady;
  size_t steady_count = 0;
  for (size_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
    if (steady_count >= kMostPasses ||
        (steady_count >= kLeastPasses && clock_.NowNs() >= deadline_ns)) {
      break;
    }
    TINYPROF_RETURN_IF_ERROR(CheckCancelled(hooks_));
    if (hooks_.progress) {
      hooks_.progress({.phase = "counting", .done = result_.counting + static_cast<int>(attempt)});
    }
    Result<Pass> pass = CountOnce(group, passes.empty());
    if (!pass.has_value()) {
      samples.lost_reason = ReasonOf(pass.error());
      Discard(pass.error().reason);
      continue;
    }
    passes.push_back(*std::move(pass));
    steady = Steady(passes);
    steady_count = static_cast<size_t>(std::count(steady.begin(), steady.end(), true));
  }

  if (steady_count >= kLeastPasses) {
    std::vector<Pass> kept;
    for (size_t i = 0; i < passes.size(); ++i) {
      if (steady[i]) {
        kept.push_back(std::move(passes[i]));
      } else {
        Discard("ANCHOR_DRIFT");
      }
    }
    Keep(std::move(kept), samples);
  } else if (!passes.empty()) {
    samples.drift_reason = fmt::format(
        "ANCHOR_DRIFT: fewer than {} of {} passes retired the same number of "
        "instructions within {} %",
        kLeastPasses, passes.size(), kMaxDrift * 100);
    Keep(std::move(passes), samples);
  }
  return {};
}

void CounterPasses::Discard(const std::string& reason) {
  ++result_.discarded;
  ++result_.discarded_for[reason];
}

Result<CounterPasses::Pass> CounterPasses::CountOnce(size_t group, bool time_reads) {
  // A set that lost its counters stays broken, so every pass has one of its own.
  TeamCounters team(backend_, options_.threads);
  TINYPROF_RETURN_IF_ERROR(team.Open(plan_.groups[group]));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> cost, CalibrateRead(team));
  const std::vector<int> cpus = team.Cpus(current_cpu_);
  TINYPROF_ASSIGN_OR_RETURN(Pass pass, CountPass(team, cost, plan_.instructions_anchor[group]));
  if (team.Cpus(current_cpu_) != cpus) {
    return Fail(ErrorCode::kAborted, "MIGRATED",
                "a thread was moved to another CPU while it counted, whose counters and caches are "
                "others");
  }
  if (time_reads) {
    TINYPROF_RETURN_IF_ERROR(TimeReads(team));
  }
  return pass;
}

Status CounterPasses::TimeReads(TeamCounters& team) {
  std::vector<int64_t> values(team.value_count());
  const int64_t begin_ns = clock_.NowNs();
  for (int i = 0; i < kTimedReads; ++i) {
    TINYPROF_RETURN_IF_ERROR(team.Read(values));
  }
  const double border_ns = static_cast<double>(clock_.NowNs() - begin_ns) / kTimedReads;
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> threads_ns,
                            team.ThreadReadCostNs(clock_, kTimedReads));
  if (!result_.read_cost.has_value() || border_ns > result_.read_cost->per_border_ns) {
    result_.read_cost = {.per_border_ns = border_ns,
                         .per_thread_ns = *std::max_element(threads_ns.begin(), threads_ns.end()),
                         .event_count = static_cast<int32_t>(team.event_count())};
  }
  return {};
}

Result<std::vector<double>> CounterPasses::CalibrateRead(TeamCounters& team) {
  const size_t width = team.value_count();
  std::vector<int64_t> reads(width * kCalibrationReads);
  for (size_t i = 0; i < kCalibrationReads; ++i) {
    TINYPROF_RETURN_IF_ERROR(team.Read(std::span(reads).subspan(i * width, width)));
  }
  std::vector<double> cost;
  for (size_t event = 0; event < team.event_count(); ++event) {
    std::vector<double> differences;
    for (size_t i = 0; i + 1 < kCalibrationReads; ++i) {
      const auto before = std::span<const int64_t>(reads).subspan(i * width, width);
      const auto after = std::span<const int64_t>(reads).subspan((i + 1) * width, width);
      TINYPROF_ASSIGN_OR_RETURN(const double difference,
                                Difference(before, after, event, team.event_count()));
      differences.push_back(difference);
    }
    cost.push_back(Median(differences));
  }
  return cost;
}

Result<CounterPasses::Pass> CounterPasses::CountPass(TeamCounters& team,
                                                     std::span<const double> read_cost,
                                                     std::optional<size_t> anchor) {
  const size_t width = team.value_count();
  const size_t nodes = workload_.node_count();
  borders_.resize(width * (nodes + 1));
  const std::span<int64_t> borders(borders_);
  if (options_.cache == CacheMode::kCold) {
    workload_.FlushCaches();
  }
  TINYPROF_RETURN_IF_ERROR(team.Read(borders.subspan(0, width)));
  for (size_t node = 0; node < nodes; ++node) {
    workload_.RunNode(node);
    TINYPROF_RETURN_IF_ERROR(team.Read(borders.subspan((node + 1) * width, width)));
  }

  Pass pass;
  for (size_t node = 0; node < nodes; ++node) {
    for (size_t event = 0; event < team.event_count(); ++event) {
      TINYPROF_ASSIGN_OR_RETURN(
          const double difference,
          Difference(borders.subspan(node * width, width),
                     borders.subspan((node + 1) * width, width), event, team.event_count()));
      pass.counts.push_back(std::max(0.0, difference - read_cost[event]));
      if (anchor == event) {
        pass.anchor = pass.anchor.value_or(0) + pass.counts.back();
      }
    }
  }
  return pass;
}

std::vector<bool> CounterPasses::Steady(const std::vector<Pass>& passes) const {
  std::vector<double> anchors;
  for (const Pass& pass : passes) {
    if (pass.anchor.has_value()) {
      anchors.push_back(*pass.anchor);
    }
  }
  if (anchors.empty()) {
    return std::vector<bool>(passes.size(), true);
  }
  const double reference = reference_anchor_.has_value() ? *reference_anchor_ : Median(anchors);
  std::vector<bool> steady;
  for (const Pass& pass : passes) {
    steady.push_back(std::abs(*pass.anchor - reference) <= kMaxDrift * reference);
  }
  return steady;
}

void CounterPasses::Keep(std::vector<Pass> passes, GroupSamples& samples) {
  std::vector<double> anchors;
  for (Pass& pass : passes) {
    samples.passes.push_back(std::move(pass.counts));
    if (pass.anchor.has_value()) {
      anchors.push_back(*pass.anchor);
    }
  }
  samples.lost_reason.clear();
  result_.counting += static_cast<int32_t>(samples.passes.size());
  if (!reference_anchor_.has_value() && !anchors.empty()) {
    reference_anchor_ = Median(anchors);
  }
}

}  // namespace tinyprof
