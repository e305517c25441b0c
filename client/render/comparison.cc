#include "client/render/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "client/render/layer_groups.h"
#include "client/render/names.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

// A clock that differs by more than this share is another clock.
constexpr double kClockTolerance = 0.05;
// Cores of one machine are near each other or far, a factor of some six apart.
constexpr double kPingPongFactor = 2;

Span SpanOf(const v1::TimeStats& time) {
  return {time.median_ns(), time.ci_low_ns(), time.ci_high_ns()};
}

Span Sum(const Span& a, const Span& b) {
  return {a.median_ns + b.median_ns, a.low_ns + b.low_ns, a.high_ns + b.high_ns};
}

std::vector<Span> PassesOf(std::span<const v1::Run> runs) {
  std::vector<Span> passes;
  for (const v1::Run& run : runs) passes.push_back(SpanOf(run.report().time()));
  return passes;
}

// The time of the layers at these places, in each run.
std::vector<Span> SumsOf(std::span<const v1::Run> runs, const std::vector<int>& places) {
  std::vector<Span> sums;
  for (const v1::Run& run : runs) {
    Span sum;
    for (const int place : places) sum = Sum(sum, SpanOf(run.report().layers(place).time()));
    sums.push_back(sum);
  }
  return sums;
}

Unmatched Rest(std::span<const v1::Run> runs, const LayerGroups& groups) {
  const Layers& layers = runs.front().report().layers();
  Unmatched rest;
  std::vector<int> places;
  for (int i = 0; i < layers.size(); ++i) {
    if (groups.Of(layers[i]).Matches()) continue;
    rest.names.push_back(LayerName(layers[i].analysis()));
    places.push_back(i);
  }
  if (!places.empty()) rest.typical_ns = TypicalNs(SumsOf(runs, places));
  return rest;
}

std::vector<LayerComparison> MatchesOf(std::span<const v1::Run> a, std::span<const v1::Run> b,
                                       const LayerGroups& groups, double tolerance) {
  const Layers& layers = b.front().report().layers();
  std::vector<LayerComparison> matches;
  for (int i = 0; i < layers.size(); ++i) {
    const LayerGroup& group = groups.Of(layers[i]);
    if (!group.Matches() || group.b.layers.front() != i) continue;
    const std::vector<Span> of_a = SumsOf(a, group.a.layers);
    const std::vector<Span> of_b = SumsOf(b, group.b.layers);
    matches.push_back({.name = fmt::format("{}", fmt::join(group.a.nodes, "+")),
                       .op = layers[i].analysis().op(),
                       .a_ns = TypicalNs(of_a),
                       .b_ns = TypicalNs(of_b),
                       .speedup = SpeedupOf(of_a, of_b, tolerance)});
  }
  return matches;
}

void WarnUnlessSame(const char* what, const std::string& a, const std::string& b,
                    std::vector<std::string>& warnings) {
  if (a != b) warnings.push_back(fmt::format("{} differ: {} and {}", what, a, b));
}

void AddStateWarnings(const v1::MachineState& a, const v1::MachineState& b,
                      std::vector<std::string>& warnings) {
  if (a.clock_hz() > 0 && b.clock_hz() > 0 &&
      std::fabs(a.clock_hz() / b.clock_hz() - 1) > kClockTolerance) {
    warnings.push_back(fmt::format("the core's clock was {:.2f} GHz and {:.2f} GHz",
                                   a.clock_hz() / 1e9, b.clock_hz() / 1e9));
  }
  if (!a.has_ping_pong_after_ns() || !b.has_ping_pong_after_ns()) return;
  const double ratio = a.ping_pong_after_ns() / b.ping_pong_after_ns();
  if (std::max(ratio, 1 / ratio) > kPingPongFactor) {
    warnings.push_back(fmt::format(
        "the cores were at another distance: {:.0f} ns and {:.0f} ns from one to the other "
        "and back",
        a.ping_pong_after_ns(), b.ping_pong_after_ns()));
  }
}

// What the model is made of: of a quantized one, the float32 model.
std::string ModelOf(const v1::RunReport& report) {
  const v1::ModelAnalysis& analysis = report.analysis();
  return analysis.has_quantization() ? analysis.quantization().quantized_from() : analysis.name();
}

// In what the work differs, and what it was done on.
std::vector<std::string> WorkDifferences(const v1::RunReport& a, const v1::RunReport& b) {
  std::vector<std::string> warnings;
  if (a.host().fingerprint() != b.host().fingerprint()) {
    warnings.push_back(
        a.host().cpu() == b.host().cpu()
            ? "the machines are not the same, or were set up in another way"
            : fmt::format("the machines differ: {} and {}", a.host().cpu(), b.host().cpu()));
  }
  if (ModelOf(a) != ModelOf(b)) {
    warnings.push_back(fmt::format("the models differ: {} and {}", ModelOf(a), ModelOf(b)));
  }
  WarnUnlessSame("the instruction sets", a.isa(), b.isa(), warnings);
  WarnUnlessSame("the threads", Counted(a.threads(), "thread"), Counted(b.threads(), "thread"),
                 warnings);
  WarnUnlessSame("the caches at the start of a pass", a.cache(), b.cache(), warnings);
  WarnUnlessSame("the shapes of the inputs", ShapesText(a.analysis().inputs()),
                 ShapesText(b.analysis().inputs()), warnings);
  WarnUnlessSame("the compilers of the kernels", a.compiler(), b.compiler(), warnings);
  return warnings;
}

bool HasSameLayers(const Layers& a, const Layers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.analysis().name() == y.analysis().name() && NodesOf(x) == NodesOf(y);
  });
}

// The first way in which the work of two runs differs, or "".
std::string DifferenceOf(const v1::Run& run_a, const v1::Run& run_b) {
  const v1::RunReport& a = run_a.report();
  const v1::RunReport& b = run_b.report();
  const std::vector<std::string> differences = WorkDifferences(a, b);
  if (!differences.empty()) return differences.front();
  if (a.backend() != b.backend()) {
    return fmt::format("the backends differ: {} and {}", a.backend(), b.backend());
  }
  if (a.analysis().name() != b.analysis().name()) {
    return fmt::format("the models differ: {} and {}", a.analysis().name(), b.analysis().name());
  }
  const v1::ConvAlgorithm algorithm_a = run_a.spec().conv_algorithm();
  const v1::ConvAlgorithm algorithm_b = run_b.spec().conv_algorithm();
  if (algorithm_a != algorithm_b) {
    return fmt::format("the algorithms of convolutions differ: {} and {}",
                       ConvAlgorithmName(algorithm_a), ConvAlgorithmName(algorithm_b));
  }
  return HasSameLayers(a.layers(), b.layers()) ? "" : "the layers differ";
}

using google::protobuf::util::TimeUtil;

int64_t StartNs(const v1::Run& run) { return TimeUtil::TimestampToNanoseconds(run.start_time()); }

// Whether all runs of `a` began before all of `b`.
bool IsBefore(std::span<const v1::Run> a, std::span<const v1::Run> b) {
  return std::all_of(a.begin(), a.end(), [&](const v1::Run& first) {
    return std::all_of(b.begin(), b.end(),
                       [&](const v1::Run& second) { return StartNs(first) < StartNs(second); });
  });
}

void WarnUnlessInTurns(std::span<const v1::Run> a, std::span<const v1::Run> b,
                       std::vector<std::string>& warnings) {
  if (a.size() < 2 || b.size() < 2) return;
  const bool is_a_first = IsBefore(a, b);
  if (!is_a_first && !IsBefore(b, a)) return;
  warnings.push_back(
      fmt::format("all runs of {} came before those of {}: what changed on the machine in between "
                  "counts as a difference; measure in turns",
                  is_a_first ? "A" : "B", is_a_first ? "B" : "A"));
}

}  // namespace

Status CheckSide(std::span<const v1::Run> runs) {
  std::set<std::string> ids;
  for (const v1::Run& run : runs) {
    if (!ids.insert(run.id()).second) {
      return Fail(ErrorCode::kInvalidArgument, "RUN_TWICE",
                  fmt::format("run {} is given twice on one side", run.id()), {{"run", run.id()}});
    }
    const std::string difference = DifferenceOf(runs.front(), run);
    if (difference.empty()) continue;
    return Fail(ErrorCode::kInvalidArgument, "RUNS_DIFFER",
                fmt::format("runs {} and {} cannot stand on one side: {}", runs.front().id(),
                            run.id(), difference),
                {{"run", run.id()}});
  }
  return {};
}

double DefaultTolerance(size_t a_run_count, size_t b_run_count) {
  constexpr double kOfOneRun = 0.1;
  constexpr double kOfSeveral = 0.01;
  return a_run_count == 1 && b_run_count == 1 ? kOfOneRun : kOfSeveral;
}

Comparison CompareRuns(std::span<const v1::Run> a, std::span<const v1::Run> b, double tolerance) {
  Comparison comparison;
  comparison.pass = SpeedupOf(PassesOf(a), PassesOf(b), tolerance);
  if (comparison.pass.significant) {
    comparison.verdict = comparison.pass.value > 1 ? Verdict::kFaster : Verdict::kSlower;
  }
  const v1::RunReport& first_a = a.front().report();
  const v1::RunReport& first_b = b.front().report();
  const LayerGroups groups(first_a.layers(), first_b.layers());
  comparison.layers = MatchesOf(a, b, groups, tolerance);
  comparison.only_a = Rest(a, groups);
  comparison.only_b = Rest(b, groups);
  comparison.warnings = WorkDifferences(first_a, first_b);
  AddStateWarnings(first_a.machine(), first_b.machine(), comparison.warnings);
  WarnUnlessInTurns(a, b, comparison.warnings);
  if (a.size() == 1 && b.size() == 1) {
    comparison.note = fmt::format(
        "one run a side does not show what a machine changes between runs, so that differences up "
        "to {:g} % are taken for none; give several, measured in turns (`compare A1,A2,A3 "
        "B1,B2,B3`)",
        100 * tolerance);
  }
  return comparison;
}

}  // namespace tinyprof::client
