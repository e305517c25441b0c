// The table of a run and what is said below it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/render/layer_rows.h"
#include "client/render/names.h"
#include "client/render/people.h"
#include "client/render/run_notes.h"
#include "client/render/table.h"
#include "client/render/units.h"

namespace tinyprof::client {
namespace {

Cell NotAvailable() { return {"n/a", Tone::kFaint}; }

Tone ToneOf(const std::string& label) {
  if (label == "compute") return Tone::kGood;
  if (label == "memory") return Tone::kWarn;
  return label.empty() ? Tone::kFaint : Tone::kBad;
}

// The columns that a layer and the total fill in the same way.
struct MeasuredScales {
  Scale time;
  Scale flops;
};

Cell TimeCell(const v1::TimeStats& time, bool present, const Scale& scale, Tone tone) {
  return present ? Cell{Format(time.median_ns(), scale), tone} : NotAvailable();
}

Cell SpeedCell(bool present, double flops_per_second, Tone tone) {
  return present ? Cell{Format(flops_per_second, {1e9, "G", 2}), tone} : NotAvailable();
}

// A count that is not to be trusted is marked; the line of the counters below says why.
Cell CountedCell(const v1::Quantity& flops, const Scale& scale, Tone tone) {
  if (!flops.has_value()) return NotAvailable();
  const std::string text = Format(flops.value(), scale);
  return flops.quality() == v1::QUALITY_SUSPECT ? Cell{text + "?", Tone::kBad} : Cell{text, tone};
}

// Of a layer without FLOPs the bound has a unit of its own.
Cell BoundCell(const v1::Bound& bound, const v1::Cost& cost, Tone tone) {
  const auto bytes = BoundBytesPerSecond(bound, cost.compulsory_bytes());
  if (bytes) return {Format(*bytes, {1e9, "G", 2}) + " GB/s", tone};
  return SpeedCell(bound.has_flops_per_second(), bound.flops_per_second(), tone);
}

template <class Report>
void AddMeasured(const Report& report, const v1::Cost& cost, const MeasuredScales& scales,
                 Tone tone, std::vector<Cell>& row) {
  const v1::Bound& bound = report.bound();
  row.push_back(TimeCell(report.time(), report.has_time(), scales.time, tone));
  row.push_back(report.has_time() ? Cell{HalfWidthText(report.time()), tone} : NotAvailable());
  row.push_back(
      SpeedCell(report.flops_per_second().has_value(), report.flops_per_second().value(), tone));
  row.push_back(BoundCell(bound, cost, tone));
  row.push_back(bound.has_percent_of_bound()
                    ? Cell{fmt::format("{:.1f}", bound.percent_of_bound()), tone}
                    : NotAvailable());
  row.push_back(bound.label().empty() ? NotAvailable()
                                      : Cell{BoundText(bound), ToneOf(bound.label())});
  row.push_back(CountedCell(report.counters().flops(), scales.flops, tone));
}

// What not every run has.
struct OptionalColumns {
  bool int_ops = false;
  bool runners_up = false;
};
// Behind the FLOPs.
constexpr int kIntOpColumn = 6;

bool HasRunnersUp(const v1::RunReport& report) {
  return std::any_of(report.layers().begin(), report.layers().end(),
                     [](const auto& layer) { return layer.kernels_tried_size() > 0; });
}

std::vector<Column> RunColumns(const CountScales& counts, const MeasuredScales& scales,
                               const OptionalColumns& optional) {
  std::vector<Column> columns = {{"#", Align::kRight},
                                 {"layer", Align::kLeft, 6},
                                 {"op", Align::kLeft, 4, 4},
                                 {"output", Align::kLeft, 6, 5},
                                 {counts.parameters.prefix + "params", Align::kRight, 0, 6},
                                 {counts.flops.prefix + "FLOP", Align::kRight, 0, 2},
                                 {"time " + scales.time.prefix, Align::kRight},
                                 {"±%", Align::kRight, 0, 1},
                                 {"GFLOP/s", Align::kRight},
                                 {"bound", Align::kRight, 0, 3},
                                 {"% of bound", Align::kRight},
                                 {"bound by", Align::kLeft},
                                 {"counted " + scales.flops.prefix + "FLOP", Align::kRight, 0, 7},
                                 {"kernel", Align::kLeft, 0, 8}};
  if (optional.runners_up) columns.push_back({"runner-up", Align::kLeft, 0, 9});
  if (optional.int_ops) {
    columns.insert(columns.begin() + kIntOpColumn,
                   {counts.int_ops.prefix + "IOP", Align::kRight, 0, 2});
  }
  return columns;
}

std::vector<Cell> LayerRow(const v1::LayerReport& layer, const CountScales& counts,
                           const MeasuredScales& scales, const OptionalColumns& optional) {
  const v1::LayerAnalysis& analysis = layer.analysis();
  const bool has_cost = analysis.has_cost();
  const v1::Cost& cost = analysis.cost();
  std::vector<Cell> row = {
      {fmt::format("{}", analysis.index())},
      {LayerName(analysis)},
      {analysis.op()},
      {ShapesText(analysis.outputs())},
      {Format(static_cast<double>(analysis.parameter_count()), counts.parameters)},
      has_cost ? Cell{Format(static_cast<double>(cost.flop_count()), counts.flops)}
               : NotAvailable()};
  if (optional.int_ops) {
    row.push_back(has_cost ? Cell{Format(static_cast<double>(cost.int_op_count()), counts.int_ops)}
                           : NotAvailable());
  }
  AddMeasured(layer, cost, scales, Tone::kPlain, row);
  row.push_back({KernelText(layer)});
  if (optional.runners_up) row.push_back({RunnerUpText(layer), Tone::kFaint});
  return row;
}

std::vector<Cell> TotalRow(const v1::RunReport& report, const CountScales& counts,
                           const MeasuredScales& scales, const OptionalColumns& optional) {
  const v1::ModelAnalysis& analysis = report.analysis();
  std::vector<Cell> row = {
      {""},
      {"total", Tone::kStrong},
      {""},
      {""},
      {Format(static_cast<double>(analysis.unique_parameter_count()), counts.parameters),
       Tone::kStrong},
      {Format(static_cast<double>(analysis.totals().flop_count()), counts.flops), Tone::kStrong}};
  if (optional.int_ops) {
    row.push_back({Format(static_cast<double>(analysis.totals().int_op_count()), counts.int_ops),
                   Tone::kStrong});
  }
  AddMeasured(report, analysis.totals(), scales, Tone::kStrong, row);
  row.push_back({""});
  if (optional.runners_up) row.push_back({""});
  return row;
}

std::string LayerTable(const v1::RunReport& report, const Layout& layout) {
  const auto median = [&](size_t i) {
    return report.layers(static_cast<int>(i)).time().median_ns();
  };
  const auto all = static_cast<size_t>(report.layers_size());
  std::vector<const v1::LayerReport*> shown;
  std::vector<const v1::LayerAnalysis*> analyses;
  std::vector<double> times;
  for (const size_t i : RowOrder(all, layout.top, median)) {
    shown.push_back(&report.layers(static_cast<int>(i)));
    analyses.push_back(&shown.back()->analysis());
    times.push_back(median(i));
  }
  const CountScales counts = ScalesOf(report.analysis(), analyses);
  const MeasuredScales scales = {TimeScale(times), counts.flops};
  const OptionalColumns optional = {.int_ops = HasIntOps(report.analysis()),
                                    .runners_up = HasRunnersUp(report)};
  Table table(RunColumns(counts, scales, optional));
  for (const v1::LayerReport* layer : shown) {
    table.AddRow(LayerRow(*layer, counts, scales, optional));
  }
  table.AddRow(TotalRow(report, counts, scales, optional));
  return table.Render(layout.columns, layout.palette) + HiddenRowsLine(all, shown.size());
}

}  // namespace

std::string RunText(const v1::Run& run, const Layout& layout) {
  if (!run.has_report()) return RunStateText(run, layout);
  const v1::RunReport& report = run.report();
  return ModelLines(report.analysis()) + SettingLine(run) + "\n" + LayerTable(report, layout) +
         "\n" + RunNotes(report, layout.palette);
}

}  // namespace tinyprof::client
