#include "client/render/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

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

// The nodes that a layer does the work of.
std::vector<std::string> NodesOf(const v1::LayerReport& layer) {
  const v1::LayerAnalysis& analysis = layer.analysis();
  if (!analysis.stands_for().empty()) {
    return {analysis.stands_for().begin(), analysis.stands_for().end()};
  }
  if (!analysis.fused().empty()) return {analysis.fused().begin(), analysis.fused().end()};
  return {analysis.name()};
}

// What one run has of a group of nodes.
struct Side {
  std::vector<const v1::LayerReport*> layers;
  std::vector<std::string> nodes;  // in the order of the run, each once
};

// Layers of two runs, grouped so that two that share a node are in one group.
class LayerGroups {
 public:
  LayerGroups(const Layers& a, const Layers& b) {
    for (const Layers* layers : {&a, &b}) {
      for (const auto& layer : *layers) Join(NodesOf(layer));
    }
    for (const auto& layer : a) Add(layer, &Group::a);
    for (const auto& layer : b) Add(layer, &Group::b);
  }

  struct Group {
    Side a;
    Side b;

    // Both have layers, and these do the work of the same nodes.
    bool Matches() const {
      const std::set<std::string> wanted(a.nodes.begin(), a.nodes.end());
      return !wanted.empty() && wanted == std::set<std::string>(b.nodes.begin(), b.nodes.end());
    }
  };

  // The group that the layer is in.
  const Group& Of(const v1::LayerReport& layer) const {
    return groups_.at(RootOf(NodesOf(layer).front()));
  }

 private:
  std::string RootOf(std::string node) const {
    for (auto next = parents_.find(node); next != parents_.end(); next = parents_.find(node)) {
      node = next->second;
    }
    return node;
  }

  void Join(const std::vector<std::string>& nodes) {
    const std::string root = RootOf(nodes.front());
    for (const std::string& node : nodes) {
      const std::string other = RootOf(node);
      if (other != root) parents_[other] = root;
    }
  }

  void Add(const v1::LayerReport& layer, Side Group::*which) {
    const std::vector<std::string> nodes = NodesOf(layer);
    Side& side = groups_[RootOf(nodes.front())].*which;
    side.layers.push_back(&layer);
    for (const std::string& node : nodes) {
      if (std::find(side.nodes.begin(), side.nodes.end(), node) == side.nodes.end()) {
        side.nodes.push_back(node);
      }
    }
  }

  std::map<std::string, std::string> parents_;  // of a node that is not the root of its group
  std::map<std::string, Group> groups_;         // by root
};

Span SumOf(const std::vector<const v1::LayerReport*>& layers) {
  Span sum;
  for (const v1::LayerReport* layer : layers) sum = Sum(sum, SpanOf(layer->time()));
  return sum;
}

Unmatched Rest(const Layers& layers, const LayerGroups& groups) {
  Unmatched rest;
  for (const auto& layer : layers) {
    if (groups.Of(layer).Matches()) continue;
    rest.names.push_back(LayerName(layer.analysis()));
    rest.median_ns += layer.time().median_ns();
  }
  return rest;
}

std::vector<LayerComparison> MatchesOf(const Layers& b, const LayerGroups& groups,
                                       double tolerance) {
  std::vector<LayerComparison> matches;
  for (const auto& layer : b) {
    const LayerGroups::Group& group = groups.Of(layer);
    if (!group.Matches() || group.b.layers.front() != &layer) continue;
    LayerComparison compared{.name = fmt::format("{}", fmt::join(group.a.nodes, "+")),
                             .op = layer.analysis().op(),
                             .a = SumOf(group.a.layers),
                             .b = SumOf(group.b.layers),
                             .speedup = {}};
    compared.speedup = SpeedupOf(compared.a, compared.b, tolerance);
    matches.push_back(std::move(compared));
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
  const Layers& layers_a = a.report().layers();
  const Layers& layers_b = b.report().layers();
  const LayerGroups groups(layers_a, layers_b);
  comparison.layers = MatchesOf(layers_b, groups, tolerance);
  comparison.only_a = Rest(layers_a, groups);
  comparison.only_b = Rest(layers_b, groups);
  comparison.warnings = WarningsOf(a.report(), b.report());
  return comparison;
}

}  // namespace tinyprof::client
