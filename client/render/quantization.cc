#include "client/render/quantization.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "client/render/json_parts.h"
#include "client/render/table.h"
#include "client/render/units.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kNoRmsReason = "ALL_ZERO: every element of the float32 output is 0";
constexpr const char* kNoSqnrReason = "NO_NOISE: the outputs are the same, or all 0";
constexpr const char* kNoTop1Reason = "NO_CLASSES: the output is not of shape [N, classes]";

std::string WeightsText(const v1::Quantization& q) {
  const auto before = static_cast<double>(q.float_weight_bytes());
  const auto after = static_cast<double>(q.quantized_weight_bytes());
  std::string text = fmt::format("{} -> {}", Bytes(before), Bytes(after));
  if (after > 0 && after < before) text += fmt::format(" ({:.2f} times less)", before / after);
  return text;
}

// "7 of 8 samples".
std::string Top1Text(const v1::QuantizedOutput& output) {
  const auto rows = static_cast<double>(output.top1_row_count());
  return fmt::format("{:.0f} of {}", std::round(output.top1_agreement() * rows),
                     Counted(output.top1_row_count(), "sample"));
}

bool KnowsWeights(const v1::Quantization& q) {
  return q.has_float_weight_bytes() && q.has_quantized_weight_bytes();
}

// Nodes that are left, by operator and reason: how many, and the first.
struct LeftGroup {
  int64_t count = 0;
  std::string first;
};
using LeftGroups = std::map<std::pair<std::string, std::string>, LeftGroup>;

LeftGroups GroupsOf(const v1::QuantizationReport& report) {
  LeftGroups groups;
  for (const auto& node : report.left()) {
    LeftGroup& group = groups[{node.op(), node.reason()}];
    if (group.count++ == 0) group.first = node.name();
  }
  return groups;
}

std::string OperatorTable(const v1::QuantizationReport& report, const Layout& layout) {
  Table table({{"operator", Align::kLeft},
               {"int8", Align::kRight},
               {"left float32", Align::kRight},
               {"why", Align::kLeft, 20}});
  const LeftGroups groups = GroupsOf(report);
  for (const auto& counts : report.operators()) {
    std::string why;
    for (const auto& [key, group] : groups) {
      if (key.first != counts.op()) continue;
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ",
                         group.count == 1 ? group.first : Counted(group.count, "node"), key.second);
    }
    table.AddRow({{counts.op()},
                  {fmt::format("{}", counts.quantized_count())},
                  {fmt::format("{}", counts.left_count())},
                  {why}});
  }
  return table.Render(layout.columns, layout.palette);
}

std::string OutputTable(const v1::QuantizationReport& report, const Layout& layout) {
  Table table({{"output", Align::kLeft, 8},
               {"max error", Align::kRight},
               {"relative RMS", Align::kRight},
               {"SQNR", Align::kRight},
               {"top-1 agreement", Align::kRight}});
  const Cell absent{"n/a", Tone::kFaint};
  for (const auto& output : report.outputs()) {
    table.AddRow(
        {{output.name()},
         {fmt::format("{:.3g}", output.max_abs_error())},
         output.has_relative_rms_error() ? Cell{Percent(output.relative_rms_error())} : absent,
         output.has_sqnr_db() ? Cell{fmt::format("{:.1f} dB", output.sqnr_db())} : absent,
         output.has_top1_row_count() ? Cell{Top1Text(output)} : absent});
  }
  return table.Render(layout.columns, layout.palette);
}

// As one word of a shell; what no name has is not printed as a command.
std::optional<std::string> ShellWord(const std::string& text) {
  if (text.empty() || Printable(text) != text) return std::nullopt;
  const bool is_plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("./:=,_-").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return text;
  if (text.find('\'') != std::string::npos) return std::nullopt;
  return fmt::format("'{}'", text);
}

std::string NextCommands(const v1::Quantization& q, const QuantizedFileInfo& file) {
  if (file.path == "-") return "";
  const auto path = ShellWord(file.path);
  auto model = ShellWord(q.quantized_from());
  if (!path || !model) return "";
  for (const std::string& flag : file.model_flags) {
    const auto word = ShellWord(flag);
    if (!word) return "";
    *model += " " + *word;
  }
  return fmt::format(
      "next, to see which is faster here (8 bits need not be):\n"
      "  tinyprof-client profile {}\n"
      "  tinyprof-client profile {}\n"
      "  tinyprof-client compare A B  # the runs of both, by the ids that they print\n",
      *model, *path);
}

Json ErrorJson(const v1::QuantizedOutput& output) {
  return {{"name", output.name()},
          {"max_abs_error", Number(output.max_abs_error())},
          {"relative_rms_error",
           OptionalNumber(output.has_relative_rms_error(), output.relative_rms_error())},
          {"relative_rms_error_reason",
           TextOrNull(output.has_relative_rms_error() ? "" : kNoRmsReason)},
          {"sqnr_db", OptionalNumber(output.has_sqnr_db(), output.sqnr_db())},
          {"sqnr_db_reason", TextOrNull(output.has_sqnr_db() ? "" : kNoSqnrReason)},
          {"top1_agreement", OptionalNumber(output.has_top1_agreement(), output.top1_agreement())},
          {"top1_row_count",
           output.has_top1_row_count() ? Json(output.top1_row_count()) : Json(nullptr)},
          {"top1_agreement_reason", TextOrNull(output.has_top1_agreement() ? "" : kNoTop1Reason)}};
}

}  // namespace

std::string QuantizationSummary(const v1::Quantization& q) {
  std::string text = "int8 of " + q.quantized_from();
  if (!q.mode().empty()) text += fmt::format(" ({})", q.mode());
  if (q.has_sqnr_db()) text += fmt::format(", SQNR {:.1f} dB", q.sqnr_db());
  return text;
}

std::string QuantizationLine(const v1::Quantization& q) {
  std::string line = Printable(QuantizationSummary(q));
  if (KnowsWeights(q)) line += ", all constants " + WeightsText(q);
  if (q.has_max_abs_error()) line += fmt::format(", error at most {:.3g}", q.max_abs_error());
  if (q.has_top1_agreement())
    line += fmt::format(", top-1 agreement {:.4g} %", 100 * q.top1_agreement());
  return line + " (noted when it was quantized)\n";
}

Json QuantizationJson(bool present, const v1::Quantization& q) {
  if (!present) return nullptr;
  const auto bytes = [](bool known, int64_t count) { return known ? Json(count) : Json(nullptr); };
  return {
      {"quantized_from", q.quantized_from()},
      {"mode", TextOrNull(q.mode())},
      {"float_weight_bytes", bytes(q.has_float_weight_bytes(), q.float_weight_bytes())},
      {"quantized_weight_bytes", bytes(q.has_quantized_weight_bytes(), q.quantized_weight_bytes())},
      {"max_abs_error", OptionalNumber(q.has_max_abs_error(), q.max_abs_error())},
      {"relative_rms_error", OptionalNumber(q.has_relative_rms_error(), q.relative_rms_error())},
      {"sqnr_db", OptionalNumber(q.has_sqnr_db(), q.sqnr_db())},
      {"top1_agreement", OptionalNumber(q.has_top1_agreement(), q.top1_agreement())}};
}

std::string QuantizationText(const v1::QuantizationReport& report, const QuantizedFileInfo& file,
                             const Layout& layout) {
  const v1::Quantization& q = report.quantization();
  const std::string calibration =
      report.sample_count() > 0
          ? fmt::format(", calibrated on {}", Counted(report.sample_count(), "seeded input"))
          : ", ranges looked up in each pass";
  Pairs pairs = {{"model", fmt::format("{}, {}{}", q.quantized_from(), q.mode(), calibration)}};
  if (KnowsWeights(q)) pairs.emplace_back("all constants", WeightsText(q));
  pairs.emplace_back(
      "other operators",
      fmt::format("{}, {} folded into convolutions", Counted(report.other_node_count(), "node"),
                  Counted(report.folded_batch_norm_count(), "BatchNormalization")));
  const std::string name = file.path == "-" ? "standard output" : file.path;
  pairs.emplace_back("file",
                     fmt::format("{} ({})", name, Bytes(static_cast<double>(file.size_bytes))));
  std::string text = RenderPairs(pairs, layout.palette) + "\n" + OperatorTable(report, layout);
  if (report.outputs_size() > 0) {
    text += fmt::format("\nerror against float32 on {} that did not calibrate:\n",
                        Counted(report.held_out_sample_count(), "seeded input")) +
            OutputTable(report, layout);
  }
  return text + "\n" + NextCommands(q, file);
}

Json QuantizationDocument(const v1::QuantizationReport& report, const QuantizedFileInfo& file) {
  Json document = NewDocument("quantize");
  document["file"] = file.path;
  document["size_bytes"] = file.size_bytes;
  document["quantization"] = QuantizationJson(true, report.quantization());
  document["samples"] = report.sample_count() == 0 ? Json(nullptr) : Json(report.sample_count());
  document["held_out_samples"] = report.held_out_sample_count();
  Json& operators = document["operators"] = Json::array();
  for (const auto& counts : report.operators()) {
    operators.push_back({{"op", counts.op()},
                         {"quantized_count", counts.quantized_count()},
                         {"left_count", counts.left_count()}});
  }
  Json& left = document["left"] = Json::array();
  for (const auto& node : report.left()) {
    left.push_back({{"name", node.name()}, {"op", node.op()}, {"reason", node.reason()}});
  }
  document["folded_batch_norm_count"] = report.folded_batch_norm_count();
  document["other_node_count"] = report.other_node_count();
  Json& outputs = document["outputs"] = Json::array();
  for (const auto& output : report.outputs()) outputs.push_back(ErrorJson(output));
  return document;
}

}  // namespace tinyprof::client
