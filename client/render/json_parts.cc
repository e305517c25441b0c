#include "client/render/json_parts.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <array>
#include <cmath>

#include "client/render/names.h"
#include "client/render/quantization.h"

namespace tinyprof::client {
namespace {

Json IntegerIfCount(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 4> kCountUnits = {"flop", "cycle", "count", "byte"};
  constexpr double kExactLimit = 9007199254740992.0;
  for (const std::string_view count : kCountUnits) {
    if (unit == count && value == std::floor(value) && std::fabs(value) <= kExactLimit) {
      return static_cast<int64_t>(value);
    }
  }
  return value;
}

Json ShapesJson(const google::protobuf::RepeatedPtrField<v1::TensorInfo>& tensors) {
  Json shapes = Json::array();
  for (const auto& tensor : tensors) {
    Json shape = Json::array();
    for (const int64_t dim : tensor.shape()) shape.push_back(dim);
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Json ClassesJson(const v1::FlopClasses& classes) {
  return {{"mac", classes.mac()},
          {"bias", classes.bias()},
          {"add_mul_div", classes.add_mul_div()},
          {"minmax", classes.minmax()},
          {"compare", classes.compare()},
          {"transcendental", classes.transcendental()},
          {"reduction", classes.reduction()}};
}

Json IntensityJson(const v1::Cost& cost) {
  if (!cost.has_arithmetic_intensity()) {
    return AbsentQuantity("flop/byte", "analytic", "NO_BYTES: no byte is moved");
  }
  v1::Quantity quantity;
  quantity.set_value(cost.arithmetic_intensity());
  quantity.set_unit("flop/byte");
  quantity.set_source(v1::SOURCE_ANALYTIC);
  quantity.set_quality(v1::QUALITY_EXACT);
  return QuantityJson(quantity);
}

void AddAbsentCost(const std::string& reason, Json& target) {
  for (const char* name :
       {"mac_count", "valid_tap_mac_count", "flop_count", "flop_count_2mac", "flop_classes",
        "int_op_count", "weight_bytes", "input_bytes", "output_bytes", "compulsory_bytes"}) {
    target[name] = nullptr;
  }
  target["arithmetic_intensity"] = AbsentQuantity("flop/byte", "analytic", reason);
  target["cost_reason"] = reason;
}

Json CoverageJson(const v1::Coverage& coverage) {
  Json unknown = Json::array();
  for (const auto& op : coverage.unknown_ops()) unknown.push_back(op);
  return {{"node_count", coverage.node_count()},
          {"nodes_with_rule", coverage.nodes_with_rule()},
          {"unknown_ops", std::move(unknown)}};
}

}  // namespace

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json OptionalNumber(bool present, double value) { return present ? Number(value) : Json(nullptr); }

Json NotFiniteReason(double value) {
  if (std::isfinite(value)) return nullptr;
  const char* name = value > 0 ? "infinity" : "minus infinity";
  return fmt::format("NOT_FINITE: it is {}, for which JSON has no number",
                     std::isnan(value) ? "NaN" : name);
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json TimeOrNull(bool present, const google::protobuf::Timestamp& time) {
  using google::protobuf::util::TimeUtil;
  return present && IsCalendarTime(time) ? Json(TimeUtil::ToString(time)) : Json(nullptr);
}

Json AbsentQuantity(std::string_view unit, std::string_view source, std::string_view reason) {
  return {{"value", nullptr},
          {"unit", std::string(unit)},
          {"source", std::string(source)},
          {"quality", nullptr},
          {"reason", std::string(reason)}};
}

namespace {

// All but the note.
Json QuantityFields(const v1::Quantity& quantity) {
  const std::string source = SourceName(quantity.source());
  if (!quantity.has_value() || !std::isfinite(quantity.value())) {
    const std::string reason = quantity.reason().empty()
                                   ? "NOT_REPORTED: the daemon gave neither a value nor a reason"
                                   : quantity.reason();
    return AbsentQuantity(quantity.unit(), source, reason);
  }
  Json json = {{"value", IntegerIfCount(quantity.value(), quantity.unit())},
               {"unit", quantity.unit()},
               {"source", source},
               {"quality", TextOrNull(QualityName(quantity.quality()))},
               {"reason", TextOrNull(quantity.reason())}};
  if (!quantity.formula().empty()) json["formula"] = quantity.formula();
  return json;
}

}  // namespace

Json QuantityJson(const v1::Quantity& quantity) {
  Json json = QuantityFields(quantity);
  if (!quantity.note().empty()) json["note"] = quantity.note();
  return json;
}

Json TensorsJson(const google::protobuf::RepeatedPtrField<v1::TensorInfo>& tensors) {
  Json list = Json::array();
  for (const auto& tensor : tensors) {
    Json shape = Json::array();
    for (const int64_t dim : tensor.shape()) shape.push_back(dim);
    list.push_back(
        {{"name", tensor.name()}, {"shape", std::move(shape)}, {"dtype", tensor.dtype()}});
  }
  return list;
}

void AddCost(const v1::Cost* cost, const std::string& absent_reason, Json& target) {
  if (cost == nullptr) return AddAbsentCost(absent_reason, target);
  target["mac_count"] = cost->mac_count();
  target["valid_tap_mac_count"] = cost->valid_tap_mac_count();
  target["flop_count"] = cost->flop_count();
  target["flop_count_2mac"] = cost->flop_count_2mac();
  target["flop_classes"] = ClassesJson(cost->flop_classes());
  target["int_op_count"] = cost->int_op_count();
  target["weight_bytes"] = cost->weight_bytes();
  target["input_bytes"] = cost->input_bytes();
  target["output_bytes"] = cost->output_bytes();
  target["compulsory_bytes"] = cost->compulsory_bytes();
  target["arithmetic_intensity"] = IntensityJson(*cost);
  target["cost_reason"] = nullptr;
}

void AddLayerAnalysis(const v1::LayerAnalysis& layer, Json& target) {
  target["index"] = layer.index();
  target["name"] = layer.name();
  target["op"] = layer.op();
  target["path"] = layer.path();
  target["fused"] = std::vector<std::string>(layer.fused().begin(), layer.fused().end());
  target["stands_for"] =
      std::vector<std::string>(layer.stands_for().begin(), layer.stands_for().end());
  target["input_shapes"] = ShapesJson(layer.inputs());
  target["output_shapes"] = ShapesJson(layer.outputs());
  target["parameter_count"] = layer.parameter_count();
  AddCost(layer.has_cost() ? &layer.cost() : nullptr, NoCostReason(layer), target);
}

void AddAnalysisHead(const v1::ModelAnalysis& analysis, Json& document) {
  document["convention"] = analysis.convention();
  document["model"] = {
      {"name", analysis.name()},
      {"source", analysis.source()},
      {"sha256", TextOrNull(analysis.sha256())},
      {"opset", analysis.opset() == 0 ? Json(nullptr) : Json(analysis.opset())},
      {"inputs", TensorsJson(analysis.inputs())},
      {"outputs", TensorsJson(analysis.outputs())},
      {"quantization", QuantizationJson(analysis.has_quantization(), analysis.quantization())}};
  Json& totals = document["totals"];
  totals["parameter_count"] = analysis.parameter_count();
  totals["unique_parameter_count"] = analysis.unique_parameter_count();
  totals["parameter_bytes"] = analysis.parameter_bytes();
  AddCost(&analysis.totals(), "", totals);
  totals["activation_peak_bytes"] = analysis.activation_peak_bytes();
  totals["tinytorch_flop_count"] = analysis.tinytorch_flop_count();
  totals["coverage"] = CoverageJson(analysis.coverage());
}

Json TrustJson(const v1::TrustTable& trust) {
  Json rows = Json::array();
  for (const auto& row : trust.rows()) {
    rows.push_back({{"loop", row.loop()},
                    {"metric", row.metric()},
                    {"formula", TextOrNull(row.formula())},
                    {"iterations", row.iterations()},
                    {"expected_low", OptionalNumber(row.has_expected_low(), row.expected_low())},
                    {"expected", OptionalNumber(row.has_expected(), row.expected())},
                    {"expected_high", OptionalNumber(row.has_expected_high(), row.expected_high())},
                    {"measured", OptionalNumber(row.has_measured(), row.measured())},
                    {"spread", OptionalNumber(row.has_spread(), row.spread())},
                    {"quality", TextOrNull(row.quality())},
                    {"reason", TextOrNull(row.reason())}});
  }
  return {{"complete", trust.complete()},
          {"elapsed_ns", Number(trust.elapsed_ns())},
          {"rows", std::move(rows)}};
}

Json HostJson(const v1::Host& host) {
  Json caches = Json::array();
  for (const auto& cache : host.caches()) {
    caches.push_back({{"level", cache.level()},
                      {"size_bytes", cache.size_bytes()},
                      {"shared_by_cpus", cache.shared_by_cpus()}});
  }
  Json unknown = Json::object();
  // A protobuf map has no order of its own; the document's order must not vary.
  const std::map<std::string, std::string> sorted(host.unknown().begin(), host.unknown().end());
  for (const auto& [field, reason] : sorted) unknown[field] = reason;
  return {{"fingerprint", TextOrNull(host.fingerprint())},
          {"cpu", TextOrNull(host.cpu())},
          {"microcode", TextOrNull(host.microcode())},
          {"kernel", TextOrNull(host.kernel())},
          {"governor", TextOrNull(host.governor())},
          {"smt", TextOrNull(host.smt())},
          {"virtualized", host.virtualized()},
          {"papi_version", TextOrNull(host.papi_version())},
          {"pmu", TextOrNull(host.pmu())},
          {"hostname", TextOrNull(host.hostname())},
          {"vendor", TextOrNull(host.vendor())},
          {"family_model_stepping", TextOrNull(host.family_model_stepping())},
          {"memory_bytes", host.memory_bytes()},
          {"cpu_count", host.cpu_count()},
          {"measurement_cpus",
           std::vector<int32_t>(host.measurement_cpus().begin(), host.measurement_cpus().end())},
          {"isas", std::vector<std::string>(host.isas().begin(), host.isas().end())},
          {"caches", std::move(caches)},
          {"daemon_version", TextOrNull(host.daemon_version())},
          {"unknown", std::move(unknown)}};
}

}  // namespace tinyprof::client
