#include "daemon/jobs/roofline_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/convert/roofline.h"
#include "daemon/jobs/layer_facts.h"
#include "daemon/jobs/model_advice.h"
#include "daemon/roofline/advice.h"
#include "daemon/roofline/bounds.h"
#include "daemon/roofline/tinytorch_rule.h"
#include "kernels/base/words.h"
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
  if (advice.speedup) message.set_speedup(*advice.speedup);
  message.set_max_speedup(advice.max_speedup);
  message.set_why(advice.why);
  return message;
}

std::optional<double> MedianNs(const v1::TimeStats& time) {
  return time.median_ns() > 0 ? std::optional(time.median_ns()) : std::nullopt;
}

int HighestThreads(const Roofline& roofline) {
  int highest = 1;
  for (const PeakCeiling& peak : roofline.isa) highest = std::max(highest, peak.threads);
  return highest;
}

constexpr const char* kNoIntegerCeiling =
    "NO_INTEGER_CEILING: the roofline has no ceiling for integer operations, and the bytes alone "
    "explain less than half of the time";

// Whether most of what the layer does is no floating-point operation.
bool WorksOnIntegers(const v1::LayerReport& layer) {
  const v1::Cost& cost = layer.analysis().cost();
  return layer.has_bound() && cost.int_op_count() > cost.flop_count();
}

// The bound of a layer that works on integers: its bytes are what is known to bound it, where
// nothing else can explain more of the time. Starting explains it as it does of any layer.
v1::Bound IntegerBound(const Bound& bound, std::optional<double> elapsed_ns) {
  v1::Bound message = ToProto(bound);
  message.set_bound_ns(bound.memory_ns);
  message.clear_flops_per_second();
  message.clear_ridge_margin();
  const bool bytes_explain = elapsed_ns && bound.memory_ns >= kExplainingShare * *elapsed_ns;
  if (bytes_explain) {
    const Limiter limiter = MemoryLimiter(bound.level);
    message.set_limiter(std::string(Name(limiter)));
    message.set_label(std::string(Name(LabelOf(limiter))));
    message.set_percent_of_bound(100 * bound.memory_ns / *elapsed_ns);
    message.set_warning(
        "the roofline has no ceiling for integer operations: the bound is that of the bytes alone");
  } else if (bound.limiter != Limiter::kOverhead) {
    message.clear_limiter();
    message.clear_label();
    message.clear_percent_of_bound();
    message.clear_warning();
    message.set_reason(kNoIntegerCeiling);
  }
  return message;
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

  // The sum of the layers' bounds, labelled as a layer is: overhead, or the ceiling that has the
  // largest share of it. None when a layer's is not known: the rest would be no bound of the whole.
  void BoundModel() {
    double bound_ns = 0;
    int64_t flop_count = 0;
    int bounded_count = 0;
    bool has_label = true;
    std::optional<double> dispatch_ns = 0;
    for (const v1::LayerReport& layer : report_.layers()) {
      if (!layer.analysis().has_cost()) continue;
      if (!layer.has_bound()) return;
      ++bounded_count;
      has_label = has_label && layer.bound().reason().empty();
      bound_ns += layer.bound().bound_ns();
      flop_count += layer.analysis().cost().flop_count();
      const std::optional<double> of_layer_ns = DispatchNs(layer, report_.overhead());
      dispatch_ns =
          dispatch_ns && of_layer_ns ? std::optional(*dispatch_ns + *of_layer_ns) : std::nullopt;
    }
    if (bounded_count == 0) return;
    const std::optional<double> elapsed_ns = MedianNs(report_.time());
    v1::Bound& bound = *report_.mutable_bound();
    bound.set_bound_ns(bound_ns);
    if (!has_label) {
      bound.set_reason(kNoIntegerCeiling);
      return;
    }
    const Limiter limiter =
        IsOverhead(bound_ns, elapsed_ns, dispatch_ns) ? Limiter::kOverhead : LargestCeiling();
    bound.set_limiter(std::string(Name(limiter)));
    bound.set_label(std::string(Name(LabelOf(limiter))));
    if (bound_ns <= 0) return;
    if (flop_count > 0) {
      bound.set_flops_per_second(static_cast<double>(flop_count) / bound_ns * 1e9);
    }
    if (elapsed_ns) bound.set_percent_of_bound(100 * bound_ns / *elapsed_ns);
  }

 private:
  Status Join(v1::LayerReport& layer) {
    const DType dtype = ComputeDType(layer.analysis());
    TINYPROF_ASSIGN_OR_RETURN(const Ceilings ceilings,
                              CeilingsFor(roofline_, isa_, dtype, report_.threads()));
    const BoundInput input = InputOf(layer);
    TINYPROF_ASSIGN_OR_RETURN(const Bound bound, ComputeBound(input, ceilings));
    *layer.mutable_bound() = ToProto(bound);
    if (WorksOnIntegers(layer)) {
      *layer.mutable_bound() = IntegerBound(bound, input.elapsed_ns);
      if (bound.memory_ns > 0) ceilings_ns_[MemoryLimiter(bound.level)] += bound.memory_ns;
      return {};
    }
    if (bound.bound_ns > 0) ceilings_ns_[NearerCeiling(bound)] += bound.bound_ns;
    LayerFacts facts = FactsOf(layer, flow_);
    facts.pass_bytes = input.pass_bytes;
    facts.cold_bytes = input.cold_bytes;
    facts.dispatch_ns = input.dispatch_ns;
    facts.worth_sharing = IsShared(layer);
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
    // Activations were just written by the layer before: the level that holds the layer serves
    // them. Weights come as those of a whole pass do, or, as what is given to the network, from
    // DRAM where the caches were flushed.
    const bool is_cold = report_.cache() == "cold";
    const int64_t flushed_bytes =
        is_cold ? std::min(cost.compulsory_bytes(),
                           cost.weight_bytes() + flow_.GivenInputBytes(layer.analysis()))
                : 0;
    const int64_t model_bytes =
        report_.analysis().parameter_bytes() + report_.analysis().activation_peak_bytes();
    return {.flop_count = cost.flop_count(),
            .byte_count = cost.compulsory_bytes(),
            .streamed_bytes = is_cold ? 0 : std::min(cost.weight_bytes(), cost.compulsory_bytes()),
            .pass_bytes = model_bytes,
            .cold_bytes = flushed_bytes,
            .elapsed_ns = MedianNs(layer.time()),
            .dispatch_ns = DispatchNs(layer, report_.overhead())};
  }

  // Of layers with work.
  Limiter LargestCeiling() const {
    return std::max_element(ceilings_ns_.begin(), ceilings_ns_.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  const Roofline& roofline_;
  const Isa isa_;
  v1::RunReport& report_;
  const DataFlow flow_;
  std::map<Limiter, double> ceilings_ns_;  // the bounds of the layers that it is the nearer one of
};

void WarnOfIntegers(v1::RunReport& report) {
  const auto& layers = report.layers();
  const auto count = std::count_if(layers.begin(), layers.end(), WorksOnIntegers);
  if (count == 0) return;
  report.add_warnings(
      fmt::format("{} on integers, for which the roofline has no ceiling: the bound is that of the "
                  "bytes alone where these explain half of the time and n/a elsewhere, and no "
                  "advice is given",
                  Counted(count, "layer works", "layers work")));
}

void WarnOfBrokenBounds(v1::RunReport& report) {
  int broken = 0;
  int winograd = 0;
  std::string worst_layer;
  double worst_percent = 100;
  for (v1::LayerReport& layer : *report.mutable_layers()) {
    if (layer.bound().percent_of_bound() <= 100) continue;
    if (IsWinograd(layer)) {
      ++winograd;
      layer.mutable_bound()->set_warning(
          "Winograd's convolution does fewer FLOPs than are counted, and the bound is for those");
      continue;
    }
    ++broken;
    if (layer.bound().percent_of_bound() <= worst_percent) continue;
    worst_percent = layer.bound().percent_of_bound();
    worst_layer = layer.analysis().name();
  }
  if (winograd > 0) {
    report.add_warnings(
        fmt::format("{} faster than the bound, which is for the FLOPs that are counted: Winograd's "
                    "convolution does fewer",
                    Counted(winograd, "layer is", "layers are")));
  }
  if (broken == 0) return;
  report.add_warnings(
      fmt::format("{} faster than the bound ({} at {:.0f} %): the roofline is out of date, or data "
                  "stayed in a nearer cache than assumed",
                  Counted(broken, "layer is", "layers are"), worst_layer, worst_percent));
}

}  // namespace

void JoinRoofline(const v1::Roofline& message, v1::RunReport& report) {
  const Roofline roofline = FromProto(message);
  const auto joined = [&]() -> Status {
    TINYPROF_ASSIGN_OR_RETURN(const Isa isa, ResolveIsa(report.isa()));
    LayerJoin join(roofline, isa, report);
    Status all = join.JoinAll();
    join.BoundModel();
    return all;
  }();
  if (!joined.has_value()) {
    report.add_warnings(
        fmt::format("some layers, and so the model, have no bound: {}", joined.error().message));
  }
  WarnOfIntegers(report);
  WarnOfBrokenBounds(report);
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
