// Parts of a run by themselves: one layer, the time, the memory, the state.
#include <fmt/format.h>

#include "client/render/names.h"
#include "client/render/people.h"
#include "client/render/progress.h"
#include "client/render/run_notes.h"
#include "client/render/table.h"
#include "client/render/units.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

double AsDouble(int64_t value) { return static_cast<double>(value); }

void AddCost(const v1::LayerAnalysis& layer, Pairs& pairs) {
  if (!layer.has_cost()) {
    pairs.emplace_back("FLOPs", fmt::format("n/a ({})", NoCostReason(layer)));
    return;
  }
  const v1::Cost& cost = layer.cost();
  pairs.emplace_back("MACs", Grouped(cost.mac_count()));
  pairs.emplace_back("FLOPs", Grouped(cost.flop_count()));
  if (cost.int_op_count() > 0) {
    pairs.emplace_back("integer operations", Grouped(cost.int_op_count()));
  }
  pairs.emplace_back(
      "bytes",
      fmt::format("{} = weights {} + inputs {} + outputs {}",
                  Bytes(AsDouble(cost.compulsory_bytes())), Bytes(AsDouble(cost.weight_bytes())),
                  Bytes(AsDouble(cost.input_bytes())), Bytes(AsDouble(cost.output_bytes()))));
  if (cost.has_arithmetic_intensity()) {
    pairs.emplace_back("intensity", fmt::format("{:.3f} FLOP/byte", cost.arithmetic_intensity()));
  }
}

std::string BoundLine(const v1::LayerReport& layer) {
  const v1::Bound& bound = layer.bound();
  if (bound.label().empty()) return fmt::format("n/a ({})", NoBoundReason(bound));
  std::string text = BoundText(bound);
  if (bound.has_flops_per_second()) text += ", " + Si(bound.flops_per_second(), "FLOP/s");
  const auto bytes = BoundBytesPerSecond(bound, layer.analysis().cost().compulsory_bytes());
  if (bytes) text += ", " + Si(*bytes, "B/s");
  if (bound.has_percent_of_bound())
    text += fmt::format(", reached {:.1f} %", bound.percent_of_bound());
  return text;
}

Pairs LayerPairs(const v1::LayerReport& layer) {
  const v1::LayerAnalysis& analysis = layer.analysis();
  Pairs pairs = {{"layer", fmt::format("{} ({})", LayerName(analysis), analysis.op())},
                 {"input", ShapesText(analysis.inputs())},
                 {"output", ShapesText(analysis.outputs())},
                 {"parameters", Grouped(analysis.parameter_count())}};
  AddCost(analysis, pairs);
  pairs.emplace_back("kernel", KernelText(layer));
  pairs.emplace_back("time", fmt::format("{} ± {} %, {}", Time(layer.time().median_ns()),
                                         HalfWidthText(layer.time()),
                                         Counted(layer.time().n(), "pass", "passes")));
  pairs.emplace_back("speed", QuantityText(layer.flops_per_second()));
  pairs.emplace_back("bound", BoundLine(layer));
  pairs.emplace_back("memory", fmt::format("activations {}, scratch {}, packed weights {}",
                                           Bytes(AsDouble(layer.memory().activation_bytes())),
                                           Bytes(AsDouble(layer.memory().scratch_bytes())),
                                           Bytes(AsDouble(layer.memory().packed_weight_bytes()))));
  return pairs;
}

std::string PercentileText(bool present, double elapsed_ns, int wanted_passes) {
  return present
             ? Time(elapsed_ns)
             : fmt::format("n/a (wants {} passes: a finer --precision makes more)", wanted_passes);
}

}  // namespace

std::string LayerText(const v1::Run& run, const Layout& layout) {
  if (!run.has_report() || run.report().layers_size() != 1) return RunText(run, layout);
  const v1::RunReport& report = run.report();
  return SettingLine(run) + "\n" + RenderPairs(LayerPairs(report.layers(0)), layout.palette) +
         "\n" + RunNotes(report, layout.palette);
}

std::string LatencyText(const v1::Run& run, const Layout& layout) {
  if (!run.has_report()) return RunStateText(run, layout);
  const v1::RunReport& report = run.report();
  const v1::TimeStats& t = report.time();
  const Pairs pairs = {
      {"median", fmt::format("{} ± {} % (95 %: {} to {})", Time(t.median_ns()), HalfWidthText(t),
                             Time(t.ci_low_ns()), Time(t.ci_high_ns()))},
      {"MAD", Time(t.mad_ns())},
      {"min", Time(t.min_ns())},
      {"p90", PercentileText(t.has_p90_ns(), t.p90_ns(), 10)},
      {"p95", PercentileText(t.has_p95_ns(), t.p95_ns(), 20)},
      {"p99", PercentileText(t.has_p99_ns(), t.p99_ns(), 100)},
      {"first pass", Time(t.first_pass_ns())},
      {"passes", fmt::format("{}, of which {}", t.n(), Counted(t.outliers(), "outlier"))},
      {"speed", QuantityText(report.flops_per_second())}};
  const std::string software =
      report.has_software() ? "\n" + SoftwareLine(report.software()) : std::string();
  return ModelLines(report.analysis()) + SettingLine(run) + "\n" +
         RenderPairs(pairs, layout.palette) + software + WarningLines(report, layout.palette);
}

std::string MemoryText(const v1::Run& run, const Layout& layout) {
  if (!run.has_report()) return RunStateText(run, layout);
  const v1::RunReport& report = run.report();
  Table table({{"#", Align::kRight},
               {"layer", Align::kLeft, 8},
               {"op", Align::kLeft, 0, 1},
               {"output", Align::kLeft, 8, 2},
               {"weights", Align::kRight},
               {"packed", Align::kRight},
               {"activations", Align::kRight},
               {"scratch", Align::kRight},
               {"peak so far", Align::kRight}});
  for (const auto& layer : report.layers()) {
    const v1::LayerAnalysis& analysis = layer.analysis();
    table.AddRow({{fmt::format("{}", analysis.index())},
                  {LayerName(analysis)},
                  {analysis.op()},
                  {ShapesText(analysis.outputs())},
                  analysis.has_cost() ? Cell{Bytes(AsDouble(analysis.cost().weight_bytes()))}
                                      : Cell{"n/a", Tone::kFaint},
                  {Bytes(AsDouble(layer.memory().packed_weight_bytes()))},
                  {Bytes(AsDouble(layer.memory().activation_bytes()))},
                  {Bytes(AsDouble(layer.memory().scratch_bytes()))},
                  {Bytes(AsDouble(layer.memory().peak_bytes()))}});
  }
  const Pairs pairs = {
      {"parameters", Bytes(AsDouble(report.analysis().parameter_bytes()))},
      {"weights, packed copies", Bytes(AsDouble(report.memory().packed_weight_bytes()))},
      {"activations, planned peak", Bytes(AsDouble(report.analysis().activation_peak_bytes()))},
      {"arena as laid out, with scratch and gaps", Bytes(AsDouble(report.memory().peak_bytes()))},
      {"resident set of the worker", Bytes(AsDouble(report.max_resident_bytes()))}};
  return ModelLines(report.analysis()) + "\n" + table.Render(layout.columns, layout.palette) +
         "\n" + RenderPairs(pairs, layout.palette);
}

std::string RunStateText(const v1::Run& run, const Layout& layout) {
  Pairs pairs = {
      {"run", run.id()}, {"model", run.spec().model().text()}, {"state", StateName(run.state())}};
  if (run.state() == v1::RUN_STATE_QUEUED) {
    pairs.emplace_back("place", WaitingText(run.queue_position(), run.waits_for()));
  }
  if (run.has_error()) {
    pairs.emplace_back("error", fmt::format("{}: {}", run.error().reason(), run.error().message()));
    if (!run.error().layer().empty()) pairs.emplace_back("layer", run.error().layer());
  }
  return RenderPairs(pairs, layout.palette);
}

std::string RunListText(const std::vector<v1::Run>& runs, const Layout& layout) {
  if (runs.empty()) return "no runs yet; start one with `tinyprof-client profile MODEL`\n";
  Table table({{"run", Align::kLeft},
               {"state", Align::kLeft},
               {"created (UTC)", Align::kLeft},
               {"model", Align::kLeft, 10},
               {"backend", Align::kLeft, 0, 2},
               {"threads", Align::kRight, 0, 3},
               {"error", Align::kLeft, 12, 1}});
  for (const auto& run : runs) {
    const bool failed = run.state() == v1::RUN_STATE_FAILED;
    table.AddRow({{run.id(), Tone::kStrong},
                  {StateName(run.state()), failed ? Tone::kBad : Tone::kPlain},
                  {TimeText(run.has_create_time(), run.create_time())},
                  {run.spec().model().text()},
                  {BackendName(run.spec().backend())},
                  {fmt::format("{}", std::max(1, run.spec().threads()))},
                  {run.error().message()}});
  }
  return table.Render(layout.columns, layout.palette);
}

}  // namespace tinyprof::client
