#include "daemon/convert/analysis.h"

#include "daemon/convert/model_spec.h"
#include "daemon/convert/quantization.h"

namespace tinyprof {
namespace {

void AddTensor(const Graph& graph, ValueId id,
               google::protobuf::RepeatedPtrField<v1::TensorInfo>& tensors) {
  const Value& value = graph.value(id);
  v1::TensorInfo& info = *tensors.Add();
  info.set_name(value.name);
  info.mutable_shape()->Assign(value.type.shape.dims().begin(), value.type.shape.dims().end());
  info.set_dtype(std::string(Name(value.type.dtype)));
}

v1::FlopClasses ToProto(const FlopClasses& flops) {
  v1::FlopClasses message;
  message.set_mac(flops.mac);
  message.set_bias(flops.bias);
  message.set_add_mul_div(flops.add_mul_div);
  message.set_minmax(flops.minmax);
  message.set_compare(flops.compare);
  message.set_transcendental(flops.transcendental);
  message.set_reduction(flops.reduction);
  return message;
}

v1::LayerAnalysis ToProto(const Graph& graph, const LayerAnalysis& layer) {
  v1::LayerAnalysis message;
  message.set_index(static_cast<int32_t>(layer.index));
  message.set_name(layer.name);
  message.set_op(layer.op);
  message.set_path(layer.path);
  message.mutable_fused()->Assign(layer.fused.begin(), layer.fused.end());
  message.mutable_stands_for()->Assign(layer.stands_for.begin(), layer.stands_for.end());
  const Node& node = graph.nodes[static_cast<size_t>(layer.index)];
  for (const ValueId input : node.inputs) {
    if (input != kNoValue) AddTensor(graph, input, *message.mutable_inputs());
  }
  for (const ValueId output : node.outputs) {
    if (output != kNoValue) AddTensor(graph, output, *message.mutable_outputs());
  }
  message.set_parameter_count(layer.parameter_count);
  if (layer.cost) *message.mutable_cost() = ToProto(*layer.cost);
  return message;
}

v1::Coverage ToProto(const Coverage& coverage) {
  v1::Coverage message;
  message.set_node_count(static_cast<int32_t>(coverage.node_count));
  message.set_nodes_with_rule(static_cast<int32_t>(coverage.nodes_with_rule));
  message.mutable_unknown_ops()->Assign(coverage.unknown_ops.begin(), coverage.unknown_ops.end());
  return message;
}

}  // namespace

v1::Cost ToProto(const Cost& cost) {
  v1::Cost message;
  message.set_mac_count(cost.flops.mac);
  message.set_valid_tap_mac_count(cost.valid_tap_mac_count);
  message.set_flop_count(cost.flop_count());
  message.set_flop_count_2mac(2 * cost.flops.mac);
  *message.mutable_flop_classes() = ToProto(cost.flops);
  message.set_int_op_count(cost.int_op_count);
  message.set_weight_bytes(cost.weight_bytes);
  message.set_input_bytes(cost.input_bytes);
  message.set_output_bytes(cost.output_bytes);
  message.set_compulsory_bytes(cost.compulsory_bytes());
  if (cost.compulsory_bytes() > 0) message.set_arithmetic_intensity(cost.arithmetic_intensity());
  return message;
}

v1::ModelAnalysis ToProto(const Graph& graph, const ModelAnalysis& analysis) {
  v1::ModelAnalysis message;
  message.set_name(graph.name);
  message.set_source(graph.source);
  message.set_opset(graph.opset);
  for (const ValueId input : graph.inputs) AddTensor(graph, input, *message.mutable_inputs());
  for (const ValueId output : graph.outputs) AddTensor(graph, output, *message.mutable_outputs());
  message.set_parameter_count(analysis.parameters.listed);
  message.set_unique_parameter_count(analysis.parameters.unique);
  message.set_parameter_bytes(analysis.parameters.unique_bytes);
  *message.mutable_totals() = ToProto(analysis.totals);
  message.set_activation_peak_bytes(analysis.activation_peak_bytes);
  message.set_tinytorch_flop_count(analysis.tinytorch_flop_count);
  *message.mutable_coverage() = ToProto(analysis.coverage);
  for (const LayerAnalysis& layer : analysis.layers) {
    *message.add_layers() = ToProto(graph, layer);
  }
  message.set_convention(kCountingConvention);
  if (graph.quantized) *message.mutable_quantization() = ToProto(*graph.quantized);
  return message;
}

Result<v1::ModelAnalysis> AnalyzeSpec(const v1::ModelSpec& spec, int model_fd) {
  TINYPROF_ASSIGN_OR_RETURN(const Graph graph, BuildGraph(spec, model_fd));
  TINYPROF_ASSIGN_OR_RETURN(const ModelAnalysis analysis, Analyze(graph));
  return ToProto(graph, analysis);
}

}  // namespace tinyprof
