#include "daemon/convert/quantization.h"

#include <algorithm>

namespace tinyprof {
namespace {

v1::QuantizedOutput ToProto(const OutputError& error) {
  v1::QuantizedOutput message;
  message.set_name(error.name);
  message.set_max_abs_error(error.max_abs_error);
  if (error.relative_rms_error) message.set_relative_rms_error(*error.relative_rms_error);
  if (error.sqnr_db) message.set_sqnr_db(*error.sqnr_db);
  if (error.top1_agreement) message.set_top1_agreement(*error.top1_agreement);
  if (error.top1_row_count) message.set_top1_row_count(*error.top1_row_count);
  return message;
}

}  // namespace

QuantizationMode FromProto(v1::QuantizationMode mode) {
  return mode == v1::QUANTIZATION_MODE_DYNAMIC ? QuantizationMode::kDynamic
                                               : QuantizationMode::kStatic;
}

v1::Quantization ToProto(const QuantizationFacts& facts) {
  v1::Quantization message;
  message.set_quantized_from(facts.from);
  message.set_mode(facts.mode);
  if (facts.float_weight_bytes) message.set_float_weight_bytes(*facts.float_weight_bytes);
  if (facts.quantized_weight_bytes) {
    message.set_quantized_weight_bytes(*facts.quantized_weight_bytes);
  }
  if (facts.max_abs_error) message.set_max_abs_error(*facts.max_abs_error);
  if (facts.relative_rms_error) message.set_relative_rms_error(*facts.relative_rms_error);
  if (facts.sqnr_db) message.set_sqnr_db(*facts.sqnr_db);
  if (facts.top1_agreement) message.set_top1_agreement(*facts.top1_agreement);
  return message;
}

QuantizationFacts FactsOf(const QuantizedModel& model, const std::string& from,
                          QuantizationMode mode) {
  QuantizationFacts facts;
  facts.from = from;
  facts.mode = Name(mode);
  facts.float_weight_bytes = model.float_weight_bytes;
  facts.quantized_weight_bytes = model.quantized_weight_bytes;
  const auto worst = std::max_element(
      model.errors.begin(), model.errors.end(), [](const OutputError& a, const OutputError& b) {
        return a.relative_rms_error.value_or(0) < b.relative_rms_error.value_or(0);
      });
  if (worst == model.errors.end()) return facts;
  facts.max_abs_error = worst->max_abs_error;
  facts.relative_rms_error = worst->relative_rms_error;
  facts.sqnr_db = worst->sqnr_db;
  facts.top1_agreement = worst->top1_agreement;
  return facts;
}

v1::QuantizationReport ToProto(const QuantizedModel& model) {
  v1::QuantizationReport report;
  for (const QuantizedOperator& counts : model.operators) {
    v1::QuantizedOperator& message = *report.add_operators();
    message.set_op(counts.op_type);
    message.set_quantized_count(counts.quantized);
    message.set_left_count(counts.left);
  }
  for (const LeftNode& node : model.left) {
    v1::LeftNode& message = *report.add_left();
    message.set_name(node.name);
    message.set_op(node.op_type);
    message.set_reason(node.reason);
  }
  report.set_folded_batch_norm_count(model.folded_batch_norms);
  report.set_other_node_count(model.other_nodes);
  for (const OutputError& error : model.errors) *report.add_outputs() = ToProto(error);
  return report;
}

}  // namespace tinyprof
