#include "client/render/comparison_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "client/render/json_parts.h"
#include "client/render/names.h"
#include "client/render/quantization.h"
#include "client/render/run_notes.h"
#include "client/render/table.h"
#include "client/render/units.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

const char* VerdictName(Verdict verdict) {
  if (verdict == Verdict::kFaster) return "faster";
  return verdict == Verdict::kSlower ? "slower" : "no_difference";
}

Tone ToneOf(const Speedup& speedup) {
  if (!speedup.significant) return Tone::kFaint;
  return speedup.value > 1 ? Tone::kGood : Tone::kBad;
}

double PassNs(std::span<const v1::Run> runs) {
  std::vector<Span> passes;
  for (const v1::Run& run : runs) passes.push_back({run.report().time().median_ns(), 0, 0});
  return TypicalNs(passes);
}

// "3 runs: r-1 4.00 µs, r-3 4.10 µs, r-5 3.95 µs", below the line of the first; nothing for one.
std::string RunsLine(std::span<const v1::Run> runs) {
  if (runs.size() == 1) return "";
  std::vector<std::string> each;
  for (const v1::Run& run : runs) {
    each.push_back(fmt::format("{} {}", run.id(), Time(run.report().time().median_ns())));
  }
  return fmt::format("   {} runs: {}\n", runs.size(), fmt::join(each, ", "));
}

std::string SideLines(const char* label, std::span<const v1::Run> runs) {
  const v1::RunReport& report = runs.front().report();
  return fmt::format("{}  {}: {}, {} a pass, {} of parameters\n   {}{}", label,
                     Printable(report.analysis().name()), ShapesText(report.analysis().inputs()),
                     Time(PassNs(runs)),
                     Bytes(static_cast<double>(report.analysis().parameter_bytes())),
                     SettingLine(runs.front()), RunsLine(runs));
}

std::string VerdictLine(const Comparison& comparison) {
  const Speedup& pass = comparison.pass;
  const std::string interval = fmt::format("{:.3f} to {:.3f}", pass.ci_low, pass.ci_high);
  if (comparison.verdict == Verdict::kNoDifference) {
    const bool is_noise = pass.ci_low <= 1 && pass.ci_high >= 1;
    return fmt::format("no difference {}: B is {:.3f} times as fast as A ({})\n",
                       is_noise ? "that can be told from noise" : "above the tolerance", pass.value,
                       interval);
  }
  return fmt::format("B is {}: {:.3f} times as fast as A ({})\n",
                     comparison.verdict == Verdict::kFaster ? "faster" : "slower", pass.value,
                     interval);
}

// Rows by what a layer adds to the difference, the largest first, when only some are asked for.
std::vector<LayerComparison> RowsOf(const Comparison& comparison, int top) {
  std::vector<LayerComparison> rows = comparison.layers;
  if (top == 0 || static_cast<size_t>(top) >= rows.size()) return rows;
  const auto change = [](const LayerComparison& layer) {
    return std::fabs(layer.a_ns - layer.b_ns);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& x, const auto& y) { return change(x) > change(y); });
  rows.resize(static_cast<size_t>(top));
  return rows;
}

std::string LayerTable(const Comparison& comparison, const Layout& layout) {
  std::vector<double> times;
  for (const LayerComparison& layer : comparison.layers) {
    times.push_back(layer.a_ns);
    times.push_back(layer.b_ns);
  }
  const Scale scale = TimeScale(times);
  Table table({{"layer", Align::kLeft, 12},
               {"op", Align::kLeft, 8},
               {"A " + scale.prefix, Align::kRight},
               {"B " + scale.prefix, Align::kRight},
               {"times as fast", Align::kRight},
               {"from", Align::kRight},
               {"to", Align::kRight}});
  for (const LayerComparison& layer : RowsOf(comparison, layout.top)) {
    const Tone tone = ToneOf(layer.speedup);
    table.AddRow({{layer.name},
                  {layer.op},
                  {Format(layer.a_ns, scale)},
                  {Format(layer.b_ns, scale)},
                  {fmt::format("{:.2f}", layer.speedup.value), tone},
                  {fmt::format("{:.2f}", layer.speedup.ci_low), tone},
                  {fmt::format("{:.2f}", layer.speedup.ci_high), tone}});
  }
  return table.Render(layout.columns, layout.palette);
}

std::string UnmatchedLine(const char* run, const Unmatched& unmatched) {
  if (unmatched.names.empty()) return "";
  return fmt::format("only in {}: {}, {} of its pass ({}{})\n", run,
                     Counted(static_cast<int64_t>(unmatched.names.size()), "layer"),
                     Time(unmatched.typical_ns), Printable(unmatched.names.front()),
                     unmatched.names.size() == 1 ? "" : ", ...");
}

std::string QuantizationLines(const char* label, const v1::Run& run) {
  const v1::ModelAnalysis& analysis = run.report().analysis();
  if (!analysis.has_quantization()) return "";
  return fmt::format("{} is {}", label, QuantizationLine(analysis.quantization()));
}

// What the runs of a side said of themselves when they were measured, each sentence once.
std::vector<std::string> WarningsOf(std::span<const v1::Run> runs) {
  std::vector<std::string> all;
  for (const v1::Run& run : runs) {
    for (const std::string& warning : run.report().warnings()) {
      if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
    }
  }
  return all;
}

// What both sides say, once.
std::string OwnWarnings(std::span<const v1::Run> a, std::span<const v1::Run> b,
                        const Palette& palette) {
  const std::vector<std::string> of_a = WarningsOf(a);
  const std::vector<std::string> of_b = WarningsOf(b);
  const auto has = [](const auto& warnings, const std::string& warning) {
    return std::find(warnings.begin(), warnings.end(), warning) != warnings.end();
  };
  std::string lines;
  const auto add = [&](const char* label, const std::string& warning) {
    lines += fmt::format("{} {}: {}\n", palette.Paint("warning:", Tone::kWarn), label,
                         Printable(warning));
  };
  for (const auto& warning : of_a) add(has(of_b, warning) ? "A and B" : "A", warning);
  for (const auto& warning : of_b) {
    if (!has(of_a, warning)) add("B", warning);
  }
  return lines;
}

Json SideJson(std::span<const v1::Run> runs) {
  const v1::Run& first = runs.front();
  const v1::RunReport& report = first.report();
  Json each = Json::array();
  for (const v1::Run& run : runs) {
    each.push_back({{"id", run.id()}, {"median_ns", Number(run.report().time().median_ns())}});
  }
  return {{"id", first.id()},
          {"model", report.analysis().name()},
          {"backend", report.backend()},
          {"isa", report.isa()},
          {"threads", report.threads()},
          {"fuse", first.spec().fuse()},
          {"conv_algorithm", ConvAlgorithmName(first.spec().conv_algorithm())},
          {"median_ns", Number(PassNs(runs))},
          {"runs", std::move(each)},
          {"parameter_bytes", report.analysis().parameter_bytes()},
          {"warnings", WarningsOf(runs)},
          {"quantization", QuantizationJson(report.analysis().has_quantization(),
                                            report.analysis().quantization())}};
}

void AddSpeedup(const Speedup& speedup, Json& target) {
  target["speedup"] = Number(speedup.value);
  target["ci_low"] = Number(speedup.ci_low);
  target["ci_high"] = Number(speedup.ci_high);
  target["significant"] = speedup.significant;
}

Json UnmatchedJson(const Unmatched& unmatched) {
  return {{"layers", unmatched.names}, {"median_ns", Number(unmatched.typical_ns)}};
}

}  // namespace

std::string ComparisonText(std::span<const v1::Run> a, std::span<const v1::Run> b,
                           const Comparison& comparison, const Layout& layout) {
  std::string text = SideLines("A", a) + SideLines("B", b) + QuantizationLines("A", a.front()) +
                     QuantizationLines("B", b.front()) + VerdictLine(comparison);
  if (!comparison.layers.empty()) text += "\n" + LayerTable(comparison, layout) + "\n";
  text += UnmatchedLine("A", comparison.only_a) + UnmatchedLine("B", comparison.only_b);
  if (!comparison.note.empty()) text += "note: " + comparison.note + "\n";
  for (const std::string& warning : comparison.warnings) {
    text += layout.palette.Paint("warning:", Tone::kWarn) + " " + Printable(warning) + "\n";
  }
  return text + OwnWarnings(a, b, layout.palette);
}

Json ComparisonDocument(std::span<const v1::Run> a, std::span<const v1::Run> b,
                        const Comparison& comparison) {
  Json document = NewDocument("compare");
  document["a"] = SideJson(a);
  document["b"] = SideJson(b);
  document["verdict"] = VerdictName(comparison.verdict);
  AddSpeedup(comparison.pass, document["pass"]);
  Json& layers = document["layers"] = Json::array();
  for (const LayerComparison& layer : comparison.layers) {
    Json& row = layers.emplace_back(Json{{"name", layer.name},
                                         {"op", layer.op},
                                         {"a_median_ns", Number(layer.a_ns)},
                                         {"b_median_ns", Number(layer.b_ns)}});
    AddSpeedup(layer.speedup, row);
  }
  document["only_a"] = UnmatchedJson(comparison.only_a);
  document["only_b"] = UnmatchedJson(comparison.only_b);
  document["note"] = TextOrNull(comparison.note);
  document["warnings"] = comparison.warnings;
  return document;
}

}  // namespace tinyprof::client
