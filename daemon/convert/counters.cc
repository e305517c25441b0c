#include "daemon/convert/counters.h"

#include <optional>
#include <string>

namespace tinyprof {
namespace {

v1::CounterMetric ToProto(const CounterMetricReport& metric) {
  v1::CounterMetric message;
  message.set_metric(metric.metric);
  message.set_event(metric.event);
  message.set_formula(metric.formula);
  message.set_usable(metric.usable);
  if (metric.quality) message.set_quality(std::string(Name(*metric.quality)));
  if (metric.expected) message.set_expected(*metric.expected);
  if (metric.measured) message.set_measured(*metric.measured);
  message.set_reason(metric.reason);
  message.set_note(metric.note);
  return message;
}

v1::TrustRow ToProto(const TrustRow& row) {
  v1::TrustRow message;
  message.set_loop(row.loop);
  message.set_metric(row.metric);
  message.set_formula(row.formula);
  message.set_iterations(row.iterations);
  if (row.expected) {
    message.set_expected_low(row.expected->low);
    message.set_expected(row.expected->nominal);
    message.set_expected_high(row.expected->high);
  }
  if (row.measured) message.set_measured(*row.measured);
  if (row.spread) message.set_spread(*row.spread);
  if (row.quality) message.set_quality(std::string(Name(*row.quality)));
  message.set_reason(row.reason);
  return message;
}

std::optional<Quality> QualityOf(const std::string& name) {
  for (const Quality quality : {Quality::kExact, Quality::kGood, Quality::kSuspect}) {
    if (name == Name(quality)) return quality;
  }
  return std::nullopt;
}

CounterMetricReport FromProto(const v1::CounterMetric& message) {
  CounterMetricReport metric{.metric = message.metric(),
                             .event = message.event(),
                             .formula = message.formula(),
                             .usable = message.usable(),
                             .quality = QualityOf(message.quality()),
                             .reason = message.reason(),
                             .note = message.note()};
  if (message.has_expected()) metric.expected = message.expected();
  if (message.has_measured()) metric.measured = message.measured();
  return metric;
}

TrustRow FromProto(const v1::TrustRow& message) {
  TrustRow row{.loop = message.loop(),
               .metric = message.metric(),
               .formula = message.formula(),
               .iterations = message.iterations(),
               .quality = QualityOf(message.quality()),
               .reason = message.reason()};
  if (message.has_expected()) {
    row.expected = {message.expected_low(), message.expected(), message.expected_high()};
  }
  if (message.has_measured()) row.measured = message.measured();
  if (message.has_spread()) row.spread = message.spread();
  return row;
}

TrustTable FromProto(const v1::TrustTable& message) {
  TrustTable trust{.elapsed_ns = message.elapsed_ns(), .complete = message.complete()};
  for (const v1::TrustRow& row : message.rows()) trust.rows.push_back(FromProto(row));
  return trust;
}

v1::CheckState ToProto(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return v1::CHECK_STATE_OK;
    case CheckState::kWarn:
      return v1::CHECK_STATE_WARN;
    case CheckState::kFail:
      return v1::CHECK_STATE_FAIL;
    case CheckState::kSkip:
      return v1::CHECK_STATE_SKIP;
  }
  return v1::CHECK_STATE_UNSPECIFIED;
}

}  // namespace

v1::CounterReport ToProto(const CounterReport& report) {
  v1::CounterReport message;
  message.set_backend(report.backend);
  message.set_pmu(report.pmu);
  message.set_usable(report.usable);
  message.set_reason(report.reason);
  for (const CounterMetricReport& metric : report.metrics) {
    *message.add_metrics() = ToProto(metric);
  }
  *message.mutable_trust() = ToProto(report.trust);
  return message;
}

CounterReport FromProto(const v1::CounterReport& message) {
  CounterReport report{.backend = message.backend(),
                       .pmu = message.pmu(),
                       .usable = message.usable(),
                       .reason = message.reason()};
  for (const v1::CounterMetric& metric : message.metrics()) {
    report.metrics.push_back(FromProto(metric));
  }
  report.trust = FromProto(message.trust());
  return report;
}

v1::TrustTable ToProto(const TrustTable& trust) {
  v1::TrustTable message;
  for (const TrustRow& row : trust.rows) *message.add_rows() = ToProto(row);
  message.set_elapsed_ns(trust.elapsed_ns);
  message.set_complete(trust.complete);
  return message;
}

v1::Check ToProto(const DiagnosticCheck& check) {
  v1::Check message;
  message.set_name(check.name);
  message.set_state(ToProto(check.state));
  message.set_found(check.found);
  message.set_why(check.why);
  message.set_fix(check.fix);
  return message;
}

}  // namespace tinyprof
