#include "client/render/json.h"

#include "client/lib/exit_code.h"
#include "client/render/json_parts.h"
#include "client/render/names.h"
#include "client/render/quantization.h"

namespace tinyprof::client {
namespace {

constexpr int kSchemaVersion = 1;

}  // namespace

std::string Dump(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json NewDocument(std::string_view command) {
  return {{"schema_version", kSchemaVersion}, {"command", std::string(command)}};
}

Json AnalysisDocument(std::string_view command, const v1::ModelAnalysis& analysis) {
  Json document = NewDocument(command);
  AddAnalysisHead(analysis, document);
  Json& layers = document["layers"] = Json::array();
  for (const auto& layer : analysis.layers()) {
    Json json;
    AddLayerAnalysis(layer, json);
    layers.push_back(std::move(json));
  }
  return document;
}

Json HostDocument(const v1::Host& host) {
  Json document = NewDocument("host");
  document["host"] = HostJson(host);
  return document;
}

Json RooflineDocument(const v1::Roofline& roofline) {
  Json document = NewDocument("roofline");
  document["host"] = HostJson(roofline.host());
  document["measured_time"] = TimeOrNull(roofline.has_measure_time(), roofline.measure_time());
  document["cpus"] =
      std::vector<int>(roofline.setup().cpus().begin(), roofline.setup().cpus().end());
  document["memory_limit_bytes"] =
      roofline.has_setup() ? Json(roofline.setup().memory_limit_bytes()) : Json(nullptr);
  Json& isas = document["isa"] = Json::array();
  for (const auto& peak : roofline.isa()) {
    isas.push_back({{"name", peak.name()},
                    {"flops_per_cycle", Number(peak.flops_per_cycle())},
                    {"peak_flops_per_second", Number(peak.peak_flops_per_second())},
                    {"threads", peak.threads()},
                    {"dtype", peak.dtype()}});
  }
  document["clock_hz"] = Number(roofline.clock_hz());
  Json& bandwidths = document["bandwidth"] = Json::array();
  for (const auto& bandwidth : roofline.bandwidth()) {
    bandwidths.push_back({{"level", bandwidth.level()},
                          {"op", bandwidth.op()},
                          {"threads", bandwidth.threads()},
                          {"bytes_per_second", Number(bandwidth.bytes_per_second())},
                          {"working_set_bytes", bandwidth.working_set_bytes()}});
  }
  Json& streams = document["streams"] = Json::array();
  for (const auto& point : roofline.streams()) {
    streams.push_back({{"threads", point.threads()},
                       {"set_bytes", point.set_bytes()},
                       {"bytes_per_second", Number(point.bytes_per_second())}});
  }
  Json& ridges = document["ridge"] = Json::array();
  for (const auto& ridge : roofline.ridge()) {
    ridges.push_back({{"isa", ridge.isa()},
                      {"level", ridge.level()},
                      {"flop_per_byte", Number(ridge.flop_per_byte())},
                      {"threads", ridge.threads()}});
  }
  document["ping_pong_ns"] = OptionalNumber(roofline.has_ping_pong_ns(), roofline.ping_pong_ns());
  document["warnings"] =
      std::vector<std::string>(roofline.warnings().begin(), roofline.warnings().end());
  return document;
}

Json CountersDocument(const v1::ListCountersResponse& response) {
  Json document = NewDocument("counters");
  const v1::CounterReport& counters = response.counters();
  document["host"] = HostJson(response.host());
  document["calibrate_time"] = TimeOrNull(response.has_calibrate_time(), response.calibrate_time());
  document["backend"] = {{"name", counters.backend()},
                         {"usable", counters.usable()},
                         {"reason", TextOrNull(counters.reason())}};
  Json& metrics = document["metrics"] = Json::array();
  for (const auto& metric : counters.metrics()) {
    metrics.push_back({{"metric", metric.metric()},
                       {"event", TextOrNull(metric.event())},
                       {"formula", TextOrNull(metric.formula())},
                       {"usable", metric.usable()},
                       {"quality", TextOrNull(metric.quality())},
                       {"expected", OptionalNumber(metric.has_expected(), metric.expected())},
                       {"measured", OptionalNumber(metric.has_measured(), metric.measured())},
                       {"reason", TextOrNull(metric.reason())},
                       {"note", TextOrNull(metric.note())}});
  }
  document["trust"] = TrustJson(counters.trust());
  return document;
}

Json DoctorDocument(const v1::DiagnoseResponse& response) {
  Json document = NewDocument("doctor");
  Json& checks = document["checks"] = Json::array();
  for (const auto& check : response.checks()) {
    checks.push_back({{"name", check.name()},
                      {"state", CheckStateName(check.state())},
                      {"found", check.found()},
                      {"why", TextOrNull(check.why())},
                      {"fix", TextOrNull(check.fix())}});
  }
  return document;
}

Json ModelsDocument(const std::vector<v1::Model>& models) {
  Json document = NewDocument("models");
  Json& list = document["models"] = Json::array();
  for (const auto& model : models) {
    list.push_back(
        {{"name", model.name()},
         {"source", model.source()},
         {"summary", model.summary()},
         {"parameter_count",
          model.has_parameter_count() ? Json(model.parameter_count()) : Json(nullptr)},
         {"parameter_count_reason",
          model.has_parameter_count() ? Json(nullptr) : Json(kNeedsShapesReason)},
         {"sha256", TextOrNull(model.sha256())},
         {"size_bytes", model.source() == "zoo" ? Json(nullptr) : Json(model.size_bytes())},
         {"uploaded_time", TimeOrNull(model.has_upload_time(), model.upload_time())},
         {"quantization", QuantizationJson(model.has_quantization(), model.quantization())},
         {"parameters",
          std::vector<std::string>(model.parameters().begin(), model.parameters().end())}});
  }
  return document;
}

Json ErrorReason(bool present, double error, const std::string& note) {
  return present ? NotFiniteReason(error) : Json("NOT_COMPARED: " + note);
}

Json WorstJson(const v1::VerifiedOutput& output) {
  if (!output.has_worst()) return nullptr;
  const v1::WorstElement& worst = output.worst();
  return {{"index", std::vector<int64_t>(worst.index().begin(), worst.index().end())},
          {"got", Number(worst.got())},
          {"got_reason", NotFiniteReason(worst.got())},
          {"want", Number(worst.want())},
          {"want_reason", NotFiniteReason(worst.want())},
          {"allowed_abs_error", Number(worst.allowed())}};
}

Json VerifyDocument(const v1::VerifyModelResponse& response) {
  Json document = NewDocument("verify");
  Json& outputs = document["outputs"] = Json::array();
  for (const auto& output : response.outputs()) {
    outputs.push_back(
        {{"name", output.name()},
         {"shape", std::vector<int64_t>(output.shape().begin(), output.shape().end())},
         {"max_abs_error", OptionalNumber(output.has_max_abs_error(), output.max_abs_error())},
         {"max_abs_error_reason",
          ErrorReason(output.has_max_abs_error(), output.max_abs_error(), output.note())},
         {"max_rel_error", OptionalNumber(output.has_max_rel_error(), output.max_rel_error())},
         {"max_rel_error_reason",
          ErrorReason(output.has_max_rel_error(), output.max_rel_error(), output.note())},
         {"ok", output.ok()},
         {"note", TextOrNull(output.note())},
         {"outside_count",
          output.has_outside_count() ? Json(output.outside_count()) : Json(nullptr)},
         {"worst", WorstJson(output)}});
  }
  document["rtol"] = Number(response.rtol());
  document["atol"] = Number(response.atol());
  document["ok"] = response.ok();
  return document;
}

Json ErrorDocument(std::string_view command, const Error& error) {
  Json document = NewDocument(command);
  Json metadata = Json::object();
  for (const auto& [key, value] : error.metadata) metadata[key] = value;
  document["error"] = {{"code", CodeName(error.code)},
                       {"reason", error.reason},
                       {"message", error.message},
                       {"metadata", std::move(metadata)}};
  return document;
}

}  // namespace tinyprof::client
