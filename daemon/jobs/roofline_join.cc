#include "daemon/jobs/roofline_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/convert/roofline.h"
#include "daemon/jobs/layer_facts.h"
#include "daemon/roofline/advice.h"
#include "daemon/roofline/bounds.h"
#include "daemon/roofline/tinytorch_rule.h"
#include "kernels/runtime/isa.h"

namespace tinyprof {
namespace {

constexpr double kBytesPerMebi = 1 << 20;

v1::Bound ToProto(const Bound& bound) {
  v1::Bound message;
  if (bound.flops_per_second) message.set_flops_per_second(*bound.flops_per_second);
  message.set_limiter(std::string(Name(bound.limiter)));
  if (bound.percent_of_bound) message.set_percent_of_bound(*bound.percent_of_bound);
  if (bound.ridge_margin) message.set_ridge_margin(*bound.ridge_margin);
  message.set_label(std::string(Name(bound.label)));
  message.set_bound_ns(bound.bound_ns);
  message.set_warning(bound.warning);
  return message;
}

v1::Advice ToProto(const Advice& advice) {
  v1::Advice message;
  message.set_kind(std::string(Name(advice.kind)));
  message.set_max_speedup(advice.max_speedup);
  message.set_why(advice.why);
  return message;
}

int HighestThreads(const Roofline& roofline) {
  int highest = 1;
  for (const PeakCeiling& peak : roofline.isa) highest = std::max(highest, peak.threads);
  return highest;
}

// Joins the layers of one report with one roofline.
class LayerJoin {
 public:
  LayerJoin(const Roofline& roofline, Isa isa, v1::RunReport& report)
      : roofline_(roofline), isa_(isa), report_(report), flow_(report) {}

  // Joins what it can, and says why the first layer that it cannot has no bound.
  Status JoinAll() {
    Status all;
    for (v1::LayerReport& layer : *report_.mutable_layers()) {
      if (!layer.analysis().has_cost()) continue;
      if (Status joined = Join(layer); !joined && all) all = std::move(joined);
    }
    return all;
  }

 private:
  Status Join(v1::LayerReport& layer) {
    const DType dtype = ComputeDType(layer.analysis());
    TINYPROF_ASSIGN_OR_RETURN(const Ceilings ceilings,
                              CeilingsFor(roofline_, isa_, dtype, report_.threads()));
    TINYPROF_ASSIGN_OR_RETURN(const Bound bound, ComputeBound(InputOf(layer), ceilings));
    *layer.mutable_bound() = ToProto(bound);
    LayerFacts facts = FactsOf(layer, flow_);
    facts.threads = report_.threads();
    facts.available_threads = HighestThreads(roofline_);
    const auto all = CeilingsFor(roofline_, isa_, dtype, facts.available_threads);
    if (all.has_value()) facts.all_threads = *all;
    for (const Advice& advice : AdviseLayer(facts, bound, ceilings)) {
      *layer.add_advice() = ToProto(advice);
    }
    return {};
  }

  BoundInput InputOf(const v1::LayerReport& layer) const {
    const v1::Cost& cost = layer.analysis().cost();
    const double median_ns = layer.time().median_ns();
    // Activations were just written by the layer before: the level that holds the layer serves
    // them. A weight is read once a pass, after all the others: it comes from where the whole model
    // fits.
    const bool mostly_weights = 2 * cost.weight_bytes() > cost.compulsory_bytes();
    const int64_t model_bytes =
        report_.analysis().parameter_bytes() + report_.analysis().activation_peak_bytes();
    BoundInput input{.flop_count = cost.flop_count(),
                     .byte_count = cost.compulsory_bytes(),
                     .working_set_bytes = mostly_weights ? model_bytes : cost.compulsory_bytes(),
                     .caches_cold = report_.cache() == "cold"};
    if (median_ns > 0) input.elapsed_ns = median_ns;
    return input;
  }

  const Roofline& roofline_;
  const Isa isa_;
  v1::RunReport& report_;
  const DataFlow flow_;
};

// The sum of the layers' bounds; limiter and label are those with the largest share of it. None
// when a layer's is not known: the rest would be no bound of the whole.
void BoundModel(v1::RunReport& report) {
  for (const v1::LayerReport& layer : report.layers()) {
    if (layer.analysis().has_cost() && !layer.has_bound()) return;
  }
  double bound_ns = 0;
  int64_t flop_count = 0;
  std::map<std::pair<std::string, std::string>, double> share_ns;
  for (const v1::LayerReport& layer : report.layers()) {
    if (!layer.has_bound()) continue;
    bound_ns += layer.bound().bound_ns();
    flop_count += layer.analysis().cost().flop_count();
    share_ns[{layer.bound().label(), layer.bound().limiter()}] += layer.bound().bound_ns();
  }
  if (share_ns.empty()) return;
  const auto largest =
      std::max_element(share_ns.begin(), share_ns.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  v1::Bound& bound = *report.mutable_bound();
  bound.set_bound_ns(bound_ns);
  bound.set_label(largest->first.first);
  bound.set_limiter(largest->first.second);
  if (bound_ns <= 0) return;
  if (flop_count > 0) bound.set_flops_per_second(static_cast<double>(flop_count) / bound_ns * 1e9);
  if (report.time().median_ns() > 0) {
    bound.set_percent_of_bound(100 * bound_ns / report.time().median_ns());
  }
}

// What following a kind of advice in every layer that has it would give the whole model.
void AdviseModel(v1::RunReport& report) {
  struct Gain {
    double saved_ns = 0;
    int layer_count = 0;
  };
  std::map<std::string, Gain> gains;
  for (const v1::LayerReport& layer : report.layers()) {
    for (const v1::Advice& advice : layer.advice()) {
      Gain& gain = gains[advice.kind()];
      gain.saved_ns += layer.time().median_ns() * (1 - 1 / advice.max_speedup());
      ++gain.layer_count;
    }
  }
  // Layers and saved times are of the instrumented passes.
  const double pass_ns = report.overhead().instrumented_pass_ns();
  std::vector<v1::Advice> model_advice;
  for (const auto& [kind, gain] : gains) {
    if (gain.saved_ns >= pass_ns) continue;
    v1::Advice advice;
    advice.set_kind(kind);
    advice.set_max_speedup(pass_ns / (pass_ns - gain.saved_ns));
    advice.set_why(fmt::format("it would save up to {:.0f} % of the pass, in {} layers",
                               100 * gain.saved_ns / pass_ns, gain.layer_count));
    if (advice.max_speedup() >= kMinSpeedup) model_advice.push_back(std::move(advice));
  }
  std::stable_sort(model_advice.begin(), model_advice.end(),
                   [](const auto& a, const auto& b) { return a.max_speedup() > b.max_speedup(); });
  report.mutable_advice()->Assign(model_advice.begin(), model_advice.end());
}

void WarnOfBrokenBounds(v1::RunReport& report) {
  int broken = 0;
  std::string worst_layer;
  double worst_percent = 100;
  for (const v1::LayerReport& layer : report.layers()) {
    if (layer.bound().percent_of_bound() <= 100) continue;
    ++broken;
    if (layer.bound().percent_of_bound() <= worst_percent) continue;
    worst_percent = layer.bound().percent_of_bound();
    worst_layer = layer.analysis().name();
  }
  if (broken == 0) return;
  report.add_warnings(
      fmt::format("{} layers are faster than their bound ({} at {:.0f} %): the roofline is out of "
                  "date, or their data stayed in a nearer cache than assumed",
                  broken, worst_layer, worst_percent));
}

}  // namespace

void JoinRoofline(const v1::Roofline& message, v1::RunReport& report) {
  const Roofline roofline = FromProto(message);
  const auto joined = [&]() -> Status {
    TINYPROF_ASSIGN_OR_RETURN(const Isa isa, ResolveIsa(report.isa()));
    return LayerJoin(roofline, isa, report).JoinAll();
  }();
  if (!joined.has_value()) {
    report.add_warnings(
        fmt::format("some layers, and so the model, have no bound: {}", joined.error().message));
  }
  WarnOfBrokenBounds(report);
  BoundModel(report);
  AdviseModel(report);
}

void AddTinyTorchFigures(v1::RunReport& report) {
  const double median_ns = report.time().median_ns();
  if (median_ns <= 0) return;
  const v1::ModelAnalysis& analysis = report.analysis();
  const bool has_batch = analysis.inputs_size() > 0 && analysis.inputs(0).shape_size() > 0;
  const double batch = has_batch ? static_cast<double>(analysis.inputs(0).shape(0)) : 1;
  const double flops = static_cast<double>(analysis.tinytorch_flop_count()) * batch;
  const double peak_mebi =
      static_cast<double>(analysis.parameter_bytes() + report.memory().peak_bytes()) /
      kBytesPerMebi;
  v1::TinyTorchFigures& figures = *report.mutable_tinytorch();
  figures.set_gflops_per_second(flops / median_ns);
  figures.set_memory_bandwidth_mbs(peak_mebi / (median_ns * 1e-9));
  figures.set_bottleneck(std::string(
      Name(TinyTorchRule(figures.gflops_per_second(), figures.memory_bandwidth_mbs()))));
}

}  // namespace tinyprof
