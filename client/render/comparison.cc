#include "client/render/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "client/render/names.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

using Layers = google::protobuf::RepeatedPtrField<v1::LayerReport>;

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

Speedup SpeedupOf(const Span& a, const Span& b, double tolerance) {
  Speedup speedup{a.median_ns / b.median_ns, a.low_ns / b.high_ns, a.high_ns / b.low_ns};
  speedup.significant = (speedup.ci_low > 1 || speedup.ci_high < 1) &&
                        std::max(speedup.value, 1 / speedup.value) > 1 + tolerance;
  return speedup;
}

// The nodes that a layer stands for.
std::vector<std::string> NodesOf(const v1::LayerReport& layer) {
  const auto& fused = layer.analysis().fused();
  if (fused.empty()) return {layer.analysis().name()};
  return {fused.begin(), fused.end()};
}

// Layers by the nodes that they stand for, as long as these have not been matched.
class Unclaimed {
 public:
  explicit Unclaimed(const Layers& layers) {
    for (const auto& layer : layers) by_nodes_[NodesOf(layer)] = SpanOf(layer.time());
  }

  bool Has(const std::vector<std::string>& nodes) const { return by_nodes_.contains(nodes); }

  // Whether all of the nodes are here, as one layer or as layers of one node each.
  bool HasAll(const std::vector<std::string>& nodes) const {
    return Has(nodes) || std::all_of(nodes.begin(), nodes.end(),
                                     [this](const std::string& node) { return Has({node}); });
  }

  // Takes them out.
  Span Claim(const std::vector<std::string>& nodes) {
    if (const auto whole = by_nodes_.find(nodes); whole != by_nodes_.end()) {
      const Span span = whole->second;
      by_nodes_.erase(whole);
      return span;
    }
    Span sum;
    for (const std::string& node : nodes) sum = Sum(sum, Claim({node}));
    return sum;
  }

 private:
  std::map<std::vector<std::string>, Span> by_nodes_;
};

// Layers of `layers` whose nodes are in `matched` by none.
Unmatched Rest(const Layers& layers, const std::set<std::string>& matched) {
  Unmatched rest;
  for (const auto& layer : layers) {
    if (matched.contains(NodesOf(layer).front())) continue;
    rest.names.push_back(LayerName(layer.analysis()));
    rest.median_ns += layer.time().median_ns();
  }
  return rest;
}

// Matches each layer of `coarse` with those of `fine` that stand for the same nodes.
void Match(const Layers& coarse, const Layers& fine, bool coarse_is_b, double tolerance,
           std::set<std::string>& matched, Comparison& comparison) {
  Unclaimed unclaimed(fine);
  for (const auto& layer : coarse) {
    const std::vector<std::string> nodes = NodesOf(layer);
    if (matched.contains(nodes.front()) || !unclaimed.HasAll(nodes)) continue;
    const Span own = SpanOf(layer.time());
    const Span other = unclaimed.Claim(nodes);
    LayerComparison compared{.name = LayerName(layer.analysis()),
                             .op = layer.analysis().op(),
                             .a = coarse_is_b ? other : own,
                             .b = coarse_is_b ? own : other,
                             .speedup = {}};
    compared.speedup = SpeedupOf(compared.a, compared.b, tolerance);
    comparison.layers.push_back(std::move(compared));
    matched.insert(nodes.begin(), nodes.end());
  }
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

std::vector<std::string> WarningsOf(const v1::RunReport& a, const v1::RunReport& b) {
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
  AddStateWarnings(a.machine(), b.machine(), warnings);
  return warnings;
}

}  // namespace

Comparison CompareRuns(const v1::Run& a, const v1::Run& b, double tolerance) {
  Comparison comparison;
  comparison.pass = SpeedupOf(SpanOf(a.report().time()), SpanOf(b.report().time()), tolerance);
  if (comparison.pass.significant) {
    comparison.verdict = comparison.pass.value > 1 ? Verdict::kFaster : Verdict::kSlower;
  }
  std::set<std::string> matched;
  Match(b.report().layers(), a.report().layers(), true, tolerance, matched, comparison);
  Match(a.report().layers(), b.report().layers(), false, tolerance, matched, comparison);
  comparison.only_a = Rest(a.report().layers(), matched);
  comparison.only_b = Rest(b.report().layers(), matched);
  comparison.warnings = WarningsOf(a.report(), b.report());
  return comparison;
}

}  // namespace tinyprof::client
