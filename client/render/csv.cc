#include "client/render/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "client/render/names.h"
#include "client/render/text.h"

namespace tinyprof::client {
namespace {

using Cells = std::vector<std::string>;

const Cells kAnalysisTitles = {"index",
                               "name",
                               "op",
                               "path",
                               "input_shapes",
                               "output_shapes",
                               "parameter_count",
                               "mac_count",
                               "valid_tap_mac_count",
                               "flop_count",
                               "flop_count_2mac",
                               "int_op_count",
                               "weight_bytes",
                               "input_bytes",
                               "output_bytes",
                               "compulsory_bytes",
                               "arithmetic_intensity",
                               "cost_reason"};

const Cells kMeasuredTitles = {"median_ns",
                               "mad_ns",
                               "min_ns",
                               "ci_low_ns",
                               "ci_high_ns",
                               "n",
                               "flops_per_second",
                               "bound_flops_per_second",
                               "percent_of_bound",
                               "limiter",
                               "label",
                               "activation_bytes",
                               "scratch_bytes",
                               "flops",
                               "cycles",
                               "instructions",
                               "l1d_misses",
                               "l2_misses",
                               "l3_misses",
                               "dram_bytes",
                               "counters_source",
                               "counters_reason",
                               "flops_single",
                               "flops_double",
                               "stall_cycles",
                               "branch_misses",
                               "dtlb_misses",
                               "dram_bytes_source",
                               "dram_bytes_note",
                               "packed_weight_bytes",
                               "backend",
                               "implementation",
                               "p90_ns",
                               "p95_ns",
                               "p99_ns",
                               "outliers",
                               "first_pass_ns",
                               "fused"};

std::string Line(const Cells& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (&cell != &cells.front()) line += ',';
    line += CsvCell(cell);
  }
  return line + '\n';
}

std::string Real(bool present, double value) {
  return present && std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string Real(const v1::Quantity& quantity) {
  return Real(quantity.has_value(), quantity.value());
}

void AddCost(const v1::Cost* cost, const std::string& absent_reason, Cells& cells) {
  if (cost == nullptr) {
    cells.insert(cells.end(), 10, "");
    cells.push_back(absent_reason);
    return;
  }
  for (const int64_t count :
       {cost->mac_count(), cost->valid_tap_mac_count(), cost->flop_count(), cost->flop_count_2mac(),
        cost->int_op_count(), cost->weight_bytes(), cost->input_bytes(), cost->output_bytes(),
        cost->compulsory_bytes()}) {
    cells.push_back(fmt::format("{}", count));
  }
  cells.push_back(Real(cost->has_arithmetic_intensity(), cost->arithmetic_intensity()));
  cells.push_back("");
}

Cells LayerCells(const v1::LayerAnalysis& layer) {
  Cells cells = {fmt::format("{}", layer.index()),
                 layer.name(),
                 layer.op(),
                 layer.path(),
                 ShapesText(layer.inputs()),
                 ShapesText(layer.outputs()),
                 fmt::format("{}", layer.parameter_count())};
  AddCost(layer.has_cost() ? &layer.cost() : nullptr, NoCostReason(layer), cells);
  return cells;
}

Cells TotalCells(const v1::ModelAnalysis& analysis) {
  Cells cells = {"",
                 "total",
                 "",
                 "",
                 ShapesText(analysis.inputs()),
                 ShapesText(analysis.outputs()),
                 fmt::format("{}", analysis.parameter_count())};
  AddCost(&analysis.totals(), "", cells);
  return cells;
}

struct NamedQuantity {
  const char* metric;
  const v1::Quantity* quantity;
};

std::vector<NamedQuantity> NamedCounters(const v1::Counters& counters) {
  return {{"flops", &counters.flops()},
          {"cycles", &counters.cycles()},
          {"instructions", &counters.instructions()},
          {"l1d_misses", &counters.l1d_misses()},
          {"l2_misses", &counters.l2_misses()},
          {"l3_misses", &counters.l3_misses()},
          {"dram_bytes", &counters.dram_bytes()},
          {"flops_single", &counters.flops_single()},
          {"flops_double", &counters.flops_double()},
          {"stall_cycles", &counters.stall_cycles()},
          {"branch_misses", &counters.branch_misses()},
          {"dtlb_misses", &counters.dtlb_misses()}};
}

// Why counts are absent or suspect: "NO_PMU: ..." when it is the same for all, else
// "l3_misses stall_cycles: NO_EVENT: ...; flops suspect: ...".
std::string ReasonsText(const v1::Counters& counters) {
  const std::vector<NamedQuantity> named = NamedCounters(counters);
  std::vector<std::pair<std::string, std::vector<std::string>>> metrics_of;  // by reason, in order
  for (const auto& [metric, quantity] : named) {
    const std::string& reason = quantity->reason();
    if (reason.empty()) continue;
    auto found = std::find_if(metrics_of.begin(), metrics_of.end(),
                              [&](const auto& entry) { return entry.first == reason; });
    if (found == metrics_of.end()) found = metrics_of.insert(found, {reason, {}});
    found->second.push_back(quantity->has_value() ? std::string(metric) + " suspect" : metric);
  }
  if (metrics_of.size() == 1 && metrics_of[0].second.size() == named.size()) {
    return metrics_of[0].first;
  }
  std::vector<std::string> texts;
  for (const auto& [reason, metrics] : metrics_of) {
    texts.push_back(fmt::format("{}: {}", fmt::join(metrics, " "), reason));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

template <class Report>
void AddMeasured(const Report& report, Cells& cells) {
  const v1::TimeStats& time = report.time();
  for (const double ns :
       {time.median_ns(), time.mad_ns(), time.min_ns(), time.ci_low_ns(), time.ci_high_ns()}) {
    cells.push_back(Real(report.has_time(), ns));
  }
  cells.push_back(report.has_time() ? fmt::format("{}", time.n()) : "");
  cells.push_back(Real(report.flops_per_second()));
  const v1::Bound& bound = report.bound();
  cells.push_back(Real(bound.has_flops_per_second(), bound.flops_per_second()));
  cells.push_back(Real(bound.has_percent_of_bound(), bound.percent_of_bound()));
  cells.push_back(bound.limiter());
  cells.push_back(bound.label());
  const v1::LayerMemory& memory = report.memory();
  cells.push_back(report.has_memory() ? fmt::format("{}", memory.activation_bytes()) : "");
  cells.push_back(report.has_memory() ? fmt::format("{}", memory.scratch_bytes()) : "");
  const v1::Counters& counters = report.counters();
  for (const v1::Quantity* quantity :
       {&counters.flops(), &counters.cycles(), &counters.instructions(), &counters.l1d_misses(),
        &counters.l2_misses(), &counters.l3_misses(), &counters.dram_bytes()}) {
    cells.push_back(Real(*quantity));
  }
  cells.push_back(SourceName(counters.flops().source()));
  cells.push_back(ReasonsText(counters));
  for (const v1::Quantity* quantity :
       {&counters.flops_single(), &counters.flops_double(), &counters.stall_cycles(),
        &counters.branch_misses(), &counters.dtlb_misses()}) {
    cells.push_back(Real(*quantity));
  }
  // Layers and the total may be counted by different means.
  cells.push_back(SourceName(counters.dram_bytes().source()));
  cells.push_back(counters.dram_bytes().note());
  cells.push_back(report.has_memory() ? fmt::format("{}", memory.packed_weight_bytes()) : "");
}

// Behind what was there before them: some read columns by position. A percentile of too few passes
// is absent.
void AddPercentiles(bool has_time, const v1::TimeStats& time, Cells& cells) {
  cells.push_back(Real(time.has_p90_ns(), time.p90_ns()));
  cells.push_back(Real(time.has_p95_ns(), time.p95_ns()));
  cells.push_back(Real(time.has_p99_ns(), time.p99_ns()));
  cells.push_back(has_time ? fmt::format("{}", time.outliers()) : "");
  cells.push_back(Real(has_time, time.first_pass_ns()));
}

}  // namespace

std::string CsvCell(std::string_view text) {
  std::string valid = ValidUtf8(text);
  if (valid.find_first_of(",\"\r\n") == std::string::npos) return valid;
  std::string quoted = "\"";
  for (const char c : valid) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string AnalysisCsv(const v1::ModelAnalysis& analysis) {
  std::string csv = Line(kAnalysisTitles);
  for (const auto& layer : analysis.layers()) csv += Line(LayerCells(layer));
  return csv + Line(TotalCells(analysis));
}

std::string RunCsv(const v1::Run& run) {
  Cells titles = kAnalysisTitles;
  titles.insert(titles.end(), kMeasuredTitles.begin(), kMeasuredTitles.end());
  std::string csv = Line(titles);
  for (const auto& layer : run.report().layers()) {
    Cells cells = LayerCells(layer.analysis());
    AddMeasured(layer, cells);
    cells.insert(cells.end(), {layer.backend(), layer.implementation()});
    AddPercentiles(layer.has_time(), layer.time(), cells);
    cells.push_back(fmt::format("{}", fmt::join(layer.analysis().fused(), "+")));
    csv += Line(cells);
  }
  Cells cells = TotalCells(run.report().analysis());
  AddMeasured(run.report(), cells);
  cells.insert(cells.end(), {run.report().backend(), ""});
  AddPercentiles(run.report().has_time(), run.report().time(), cells);
  cells.push_back("");
  return csv + Line(cells);
}

}  // namespace tinyprof::client
