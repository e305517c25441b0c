#include "daemon/model/quantization_metadata.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/utf8.h"
#include "kernels/graph/origins.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

constexpr std::string_view kPrefix = "tinyprof.";
constexpr size_t kMaxNameBytes = 1024;
constexpr std::string_view kOriginsHead = "tinyprof.stands_for:\n";
constexpr size_t kMaxOriginsBytes = 64 << 10;

void Add(onnx::ModelProto& model, std::string_view key, std::string value) {
  onnx::StringStringEntryProto& entry = *model.add_metadata_props();
  entry.set_key(fmt::format("{}{}", kPrefix, key));
  entry.set_value(std::move(value));
}

template <class Number>
void Add(onnx::ModelProto& model, std::string_view key, const std::optional<Number>& value) {
  if (value) Add(model, key, fmt::format("{}", *value));
}

// All of `text` as a number within [low, high].
template <class Number>
std::optional<Number> NumberFrom(std::string_view text, Number low, Number high) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || !(number >= low && number <= high)) return std::nullopt;
  return number;
}

std::optional<int64_t> BytesFrom(std::string_view text) {
  return NumberFrom<int64_t>(text, 0, int64_t{1} << 59);
}

void Read(std::string_view key, std::string_view text, QuantizationFacts& facts) {
  constexpr double kLargest = 1e300;
  if (key == "quantized_from") {
    facts.from = ValidUtf8(text, kMaxNameBytes);
  } else if (key == "quantization") {
    if (text == "static" || text == "dynamic") facts.mode = text;
  } else if (key == "float_weight_bytes") {
    facts.float_weight_bytes = BytesFrom(text);
  } else if (key == "quantized_weight_bytes") {
    facts.quantized_weight_bytes = BytesFrom(text);
  } else if (key == "max_abs_error") {
    facts.max_abs_error = NumberFrom(text, 0.0, kLargest);
  } else if (key == "relative_rms_error") {
    facts.relative_rms_error = NumberFrom(text, 0.0, kLargest);
  } else if (key == "sqnr_db") {
    facts.sqnr_db = NumberFrom(text, -kLargest, kLargest);
  } else if (key == "top1_agreement") {
    facts.top1_agreement = NumberFrom(text, 0.0, 1.0);
  }
}

}  // namespace

void AddQuantization(const QuantizationFacts& facts, onnx::ModelProto& model) {
  Add(model, "quantized_from", facts.from);
  Add(model, "quantization", facts.mode);
  Add(model, "float_weight_bytes", facts.float_weight_bytes);
  Add(model, "quantized_weight_bytes", facts.quantized_weight_bytes);
  Add(model, "max_abs_error", facts.max_abs_error);
  Add(model, "relative_rms_error", facts.relative_rms_error);
  Add(model, "sqnr_db", facts.sqnr_db);
  Add(model, "top1_agreement", facts.top1_agreement);
}

std::optional<QuantizationFacts> QuantizationOf(const onnx::ModelProto& model) {
  QuantizationFacts facts;
  for (const auto& entry : model.metadata_props()) {
    const std::string_view key = entry.key();
    if (key.starts_with(kPrefix)) Read(key.substr(kPrefix.size()), entry.value(), facts);
  }
  if (facts.from.empty()) return std::nullopt;
  return facts;
}

void AddOrigins(const Node& node, onnx::NodeProto& proto) {
  const std::vector<std::string> names = OriginsOf(node);
  if (names.empty()) return;
  proto.set_doc_string(fmt::format("{}{}", kOriginsHead, fmt::join(names, "\n")));
}

void ReadOrigins(const onnx::NodeProto& proto, Node& node) {
  std::string_view text = proto.doc_string();
  if (!text.starts_with(kOriginsHead) || text.size() > kMaxOriginsBytes || !IsValidUtf8(text)) {
    return;
  }
  text.remove_prefix(kOriginsHead.size());
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t length = std::min(text.find('\n'), text.size());
    if (length > 0) names.emplace_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  if (!names.empty()) SetOrigins(node, names);
}

}  // namespace tinyprof
