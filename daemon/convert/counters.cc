#include "daemon/convert/counters.h"

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

v1::TrustTable ToProto(const TrustTable& trust) {
  v1::TrustTable message;
  for (const TrustRow& row : trust.rows) *message.add_rows() = ToProto(row);
  message.set_elapsed_ns(trust.elapsed_ns);
  message.set_complete(trust.complete);
  return message;
}

v1::CheckState ToProto(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return v1::CHECK_STATE_OK;
    case CheckState::kWarn:
      return v1::CHECK_STATE_WARN;
    case CheckState::kFail:
      return v1::CHECK_STATE_FAIL;
  }
  return v1::CHECK_STATE_UNSPECIFIED;
}

}  // namespace

v1::CounterReport ToProto(const CounterReport& report) {
  v1::CounterReport message;
  message.set_backend(report.backend);
  message.set_usable(report.usable);
  message.set_reason(report.reason);
  for (const CounterMetricReport& metric : report.metrics) {
    *message.add_metrics() = ToProto(metric);
  }
  *message.mutable_trust() = ToProto(report.trust);
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
