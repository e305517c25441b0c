#include "daemon/counters/calibration/count_loops.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/try_group.h"

namespace tinyprof {
namespace {

// Terms of a formula that are counted together.
struct TermGroup {
  std::vector<std::string> events;
  std::vector<double> weights;
};

// As few groups as come of putting each event into the last one while that is taken.
Result<std::vector<TermGroup>> PackTerms(CounterBackend& backend, const Formula& formula) {
  std::vector<TermGroup> groups;
  for (const Formula::Term& term : formula.terms) {
    if (!groups.empty()) {
      std::vector<std::string> longer = groups.back().events;
      longer.push_back(term.event);
      if (TryGroup(backend, longer).has_value()) {
        groups.back().events = std::move(longer);
        groups.back().weights.push_back(term.weight);
        continue;
      }
    }
    TINYPROF_RETURN_IF_ERROR(TryGroup(backend, {&term.event, 1}));
    groups.push_back({{term.event}, {term.weight}});
  }
  return groups;
}

// A running group on thread 0, closed when it goes.
class RunningGroup {
 public:
  RunningGroup(CounterBackend& backend, const TermGroup& group)
      : backend_(backend), group_(group) {}
  ~RunningGroup() { backend_.CloseGroup(0); }
  RunningGroup(const RunningGroup&) = delete;
  RunningGroup& operator=(const RunningGroup&) = delete;

  Status Open() {
    TINYPROF_RETURN_IF_ERROR(backend_.AttachThread(0));
    TINYPROF_RETURN_IF_ERROR(backend_.OpenGroup(0, group_.events));
    return backend_.Start(0);
  }

  // The weighted sum of the group's terms over n iterations of the loop.
  Result<double> Count(const KnownLoop& loop) {
    const int64_t n = loop.iterations;
    TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> once, Dose(loop, n));
    TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> twice, Dose(loop, 2 * n));
    double sum = 0;
    for (size_t i = 0; i < once.size(); ++i) {
      sum += group_.weights[i] * (twice[i] - once[i]);
    }
    return sum;
  }

 private:
  [[gnu::noinline]] Result<std::vector<double>> Dose(const KnownLoop& loop, int64_t n) {
    if (loop.prepare && !loop.prepare(n)) {
      return Fail(ErrorCode::kResourceExhausted, "NO_MEMORY",
                  fmt::format("the system gives no memory for {}", loop.facts.name));
    }
    std::array<std::vector<int64_t>, 2> reads;
    reads.fill(std::vector<int64_t>(group_.events.size(), CounterBackend::kUntouched));
    TINYPROF_RETURN_IF_ERROR(backend_.Read(0, reads[0]));
    loop.run(n);
    TINYPROF_RETURN_IF_ERROR(backend_.Read(0, reads[1]));
    std::vector<double> counts;
    for (size_t i = 0; i < group_.events.size(); ++i) {
      if (reads[0][i] == CounterBackend::kUntouched || reads[1][i] < reads[0][i]) {
        return Fail(ErrorCode::kAborted, "COUNTERS_LOST",
                    fmt::format("the count of {} ran backwards or was not read", group_.events[i]),
                    {{"event", group_.events[i]}});
      }
      counts.push_back(static_cast<double>(reads[1][i] - reads[0][i]));
    }
    return counts;
  }

  CounterBackend& backend_;
  const TermGroup& group_;
};

// Adds the group's share of each repeat to the sample; a reason where it cannot be had.
void AddCounts(RunningGroup& running, const KnownLoop& loop, int repeats, LoopSample& sample) {
  sample.counts.resize(static_cast<size_t>(repeats));
  for (double& count : sample.counts) {
    const Result<double> counted = running.Count(loop);
    if (!counted.has_value()) {
      sample.lost_reason = ReasonOf(counted.error());
      return;
    }
    count += *counted;
  }
}

void CountGroup(CounterBackend& backend, const TermGroup& group,
                std::span<const KnownLoop* const> loops, const CountingBudget& budget,
                std::vector<LoopSample>& samples) {
  size_t next = 0;
  // A group that lost its counters stays broken, so the loop after it gets a new one.
  while (next < loops.size()) {
    RunningGroup running(backend, group);
    Status opened = running.Open();
    bool intact = true;
    for (; next < loops.size() && intact; ++next) {
      LoopSample& sample = samples[next];
      if (!sample.lost_reason.empty()) {
        continue;
      }
      if (!opened.has_value()) {
        sample.lost_reason = ReasonOf(opened.error());
      } else if (next > 0 && budget.over()) {
        sample.lost_reason = "NO_TIME: calibration's time ran out before this loop";
      } else {
        AddCounts(running, *loops[next], budget.repeats, sample);
        intact = sample.lost_reason.empty();
      }
    }
  }
}

}  // namespace

Result<std::vector<LoopSample>> CountLoops(CounterBackend& backend, const Formula& formula,
                                           std::span<const KnownLoop* const> loops,
                                           const CountingBudget& budget) {
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<TermGroup> groups, PackTerms(backend, formula));
  std::vector<LoopSample> samples;
  for (const KnownLoop* loop : loops) {
    samples.push_back({.facts = loop->facts, .iterations = loop->iterations});
  }
  for (const TermGroup& group : groups) {
    CountGroup(backend, group, loops, budget, samples);
  }
  for (LoopSample& sample : samples) {
    if (!sample.lost_reason.empty()) {
      sample.counts.clear();
    }
  }
  return samples;
}

}  // namespace tinyprof
