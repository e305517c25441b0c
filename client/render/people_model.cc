// Models and their analysis, for people.
#include <fmt/format.h>

#include "client/render/layer_rows.h"
#include "client/render/names.h"
#include "client/render/people.h"
#include "client/render/quantization.h"
#include "client/render/table.h"
#include "client/render/units.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

// "input: 1x3x224x224 float32"; an input is named unless it is the only one and called so.
std::string InputsText(const v1::ModelAnalysis& analysis) {
  const bool one = analysis.inputs_size() == 1;
  std::string text;
  for (const auto& input : analysis.inputs()) {
    const std::string name =
        one && input.name() == "input" ? "" : fmt::format("{} ", Printable(input.name()));
    text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ", name, ShapeText(input),
                        Printable(input.dtype()));
  }
  return fmt::format("{}: {}", one ? "input" : "inputs", text.empty() ? "none" : text);
}

// Why the layers' parameters add up to more than the total.
std::string SharedParametersLine(const v1::ModelAnalysis& analysis) {
  const int64_t shared = analysis.parameter_count() - analysis.unique_parameter_count();
  if (shared <= 0) return "";
  return fmt::format("{} are shared: each layer that uses them counts them, the total once\n",
                     Counted(shared, "parameter"));
}

Cell CountCell(bool present, double value, const Scale& scale, Tone tone) {
  return present ? Cell{Format(value, scale), tone} : Cell{"n/a", Tone::kFaint};
}

void AddCounts(const v1::Cost* cost, const CountScales& scales, bool has_int_ops, Tone tone,
               std::vector<Cell>& row) {
  const v1::Cost& c = cost == nullptr ? v1::Cost::default_instance() : *cost;
  const bool present = cost != nullptr;
  row.push_back(CountCell(present, static_cast<double>(c.mac_count()), scales.macs, tone));
  row.push_back(CountCell(present, static_cast<double>(c.flop_count()), scales.flops, tone));
  if (has_int_ops) {
    row.push_back(CountCell(present, static_cast<double>(c.int_op_count()), scales.int_ops, tone));
  }
  row.push_back(CountCell(present, static_cast<double>(c.compulsory_bytes()), scales.bytes, tone));
  row.push_back(
      CountCell(c.has_arithmetic_intensity(), c.arithmetic_intensity(), {1, "", 2}, tone));
}

std::string AnalysisTable(const v1::ModelAnalysis& analysis,
                          const std::vector<const v1::LayerAnalysis*>& layers,
                          const Layout& layout) {
  const CountScales scales = ScalesOf(analysis, layers);
  const bool has_int_ops = HasIntOps(analysis);
  std::vector<Column> columns = {{"#", Align::kRight},
                                 {"layer", Align::kLeft, 8},
                                 {"op", Align::kLeft, 0, 2},
                                 {"output", Align::kLeft, 8, 1},
                                 {scales.parameters.prefix + "params", Align::kRight, 0, 4},
                                 {scales.macs.prefix + "MAC", Align::kRight, 0, 5},
                                 {scales.flops.prefix + "FLOP", Align::kRight}};
  if (has_int_ops) columns.push_back({scales.int_ops.prefix + "IOP", Align::kRight});
  columns.push_back({scales.bytes.prefix + "B moved", Align::kRight, 0, 3});
  columns.push_back({"FLOP/B", Align::kRight});
  Table table(std::move(columns));
  const auto parameters = [&scales](int64_t count, Tone tone) {
    return Cell{Format(static_cast<double>(count), scales.parameters), tone};
  };
  for (const v1::LayerAnalysis* layer : layers) {
    std::vector<Cell> row = {{fmt::format("{}", layer->index())},
                             {layer->name()},
                             {layer->op()},
                             {ShapesText(layer->outputs())},
                             parameters(layer->parameter_count(), Tone::kPlain)};
    AddCounts(layer->has_cost() ? &layer->cost() : nullptr, scales, has_int_ops, Tone::kPlain, row);
    table.AddRow(std::move(row));
  }
  std::vector<Cell> total = {{""},
                             {"total", Tone::kStrong},
                             {""},
                             {""},
                             parameters(analysis.unique_parameter_count(), Tone::kStrong)};
  AddCounts(&analysis.totals(), scales, has_int_ops, Tone::kStrong, total);
  table.AddRow(std::move(total));
  return table.Render(layout.columns, layout.palette);
}

}  // namespace

std::string ModelLines(const v1::ModelAnalysis& analysis) {
  const v1::Cost& cost = analysis.totals();
  std::string lines = fmt::format("{} ({}), {}\n", Printable(analysis.name()),
                                  Printable(analysis.source()), InputsText(analysis));
  const int64_t parameter_count = analysis.unique_parameter_count();
  lines += fmt::format("{} {} ({}), {}, {}", Grouped(parameter_count),
                       parameter_count == 1 ? "parameter" : "parameters",
                       Bytes(static_cast<double>(analysis.parameter_bytes())),
                       Si(static_cast<double>(cost.flop_count()), "FLOP"),
                       Si(static_cast<double>(cost.mac_count()), "MAC"));
  if (HasIntOps(analysis)) {
    lines += fmt::format(", {} (integer operations, which are no FLOPs)",
                         Si(static_cast<double>(cost.int_op_count()), "IOP"));
  }
  if (cost.has_arithmetic_intensity()) {
    lines += fmt::format(", {:.2f} FLOP/byte", cost.arithmetic_intensity());
  }
  lines += '\n';
  lines += SharedParametersLine(analysis);
  if (analysis.has_quantization()) lines += QuantizationLine(analysis.quantization());
  if (analysis.coverage().unknown_ops_size() > 0) {
    lines += fmt::format(
        "not counted, no rule for: {}\n",
        Printable(fmt::format("{}", fmt::join(analysis.coverage().unknown_ops(), ", "))));
  }
  return lines;
}

std::string AnalysisText(const v1::ModelAnalysis& analysis, const Layout& layout) {
  const auto operations = [&](size_t i) {
    const v1::Cost& cost = analysis.layers(static_cast<int>(i)).cost();
    return static_cast<double>(cost.flop_count()) + static_cast<double>(cost.int_op_count());
  };
  const auto all = static_cast<size_t>(analysis.layers_size());
  std::vector<const v1::LayerAnalysis*> layers;
  for (const size_t i : RowOrder(all, layout.top, operations)) {
    layers.push_back(&analysis.layers(static_cast<int>(i)));
  }
  return ModelLines(analysis) + "\n" + AnalysisTable(analysis, layers, layout) + "\n" +
         HiddenRowsLine(all, layers.size()) +
         fmt::format("activations {} at most; convention: {}\n",
                     Bytes(static_cast<double>(analysis.activation_peak_bytes())),
                     Printable(analysis.convention()));
}

std::string ModelsText(const std::vector<v1::Model>& models, const Layout& layout) {
  Table table({{"model", Align::kLeft, 16},
               {"source", Align::kLeft, 0, 1},
               {"parameters", Align::kRight},
               {"size", Align::kRight, 0, 3},
               {"uploaded (UTC)", Align::kLeft, 0, 2},
               {"summary", Align::kLeft, 20},
               {"options", Align::kLeft, 12, 4}});
  for (const auto& model : models) {
    const bool is_file = model.source() != "zoo";
    table.AddRow(
        {{model.name(), Tone::kStrong},
         {model.source()},
         {model.has_parameter_count() ? Grouped(model.parameter_count()) : "n/a"},
         {is_file ? Bytes(static_cast<double>(model.size_bytes())) : ""},
         {is_file ? TimeText(model.has_upload_time(), model.upload_time()) : ""},
         {model.has_quantization() ? QuantizationSummary(model.quantization()) : model.summary()},
         {fmt::format("{}", fmt::join(model.parameters(), "; "))}});
  }
  return table.Render(layout.columns, layout.palette);
}

}  // namespace tinyprof::client
