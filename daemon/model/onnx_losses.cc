// Losses, which exports for training end with, as compositions: NegativeLogLikelihoodLoss and
// SoftmaxCrossEntropyLoss.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/model/onnx_node.h"
#include "daemon/model/onnx_reader.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

tl::unexpected<Error> BadLoss(const onnx::NodeProto& node, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX",
              fmt::format("node '{}' ({}): {}", DisplayName(node), node.op_type(), what));
}

const Attributes kChannelAxis = {{"axis", int64_t{1}}};
const Attributes kChannelAxes = {{"axes", std::vector<int64_t>{1}}};

}  // namespace

// The weight of each target: that of its class, and 0 for the ignored class. kNoValue: all are 1.
Result<ValueId> OnnxReader::EmitTargetWeights(const onnx::NodeProto& source, const Node& node,
                                              ValueId classes, ValueId is_ignored, DType dtype) {
  const bool has_weights = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  const auto number = [&](float value) {
    TensorData tensor{"", {DType::kFloat32, Shape()}, Fill::Float32s({value}).data};
    return EmitCast(source, node, AddInitializer(std::move(tensor)), dtype);
  };
  if (!has_weights && is_ignored == kNoValue) return kNoValue;
  TINYPROF_ASSIGN_OR_RETURN(ValueId weights, number(1));
  if (has_weights) {
    TINYPROF_ASSIGN_OR_RETURN(weights,
                              EmitOne(source, node, "Gather", {node.inputs[2], classes}, {}));
  }
  if (is_ignored == kNoValue) return weights;
  TINYPROF_ASSIGN_OR_RETURN(const ValueId zero, number(0));
  return EmitOne(source, node, "Where", {is_ignored, zero, weights}, {});
}

// The loss of log probabilities [N, C, ...] at targets [N, ...].
Result<ValueId> OnnxReader::EmitLoss(const onnx::NodeProto& source, const Node& node,
                                     ValueId log_probabilities) {
  const DType dtype = graph_.value(log_probabilities).type.dtype;
  const NodeSignature attributes{.node = &node, .inputs = {}, .outputs = {}};
  ValueId classes = node.inputs[1];
  ValueId is_ignored = kNoValue;
  if (attributes.has_attribute("ignore_index")) {
    const DType index = graph_.value(classes).type.dtype;
    const auto scalar = [&](int64_t value) {
      return EmitCast(source, node, AddInitializer(IntegerScalar(DType::kInt64, value)), index);
    };
    TINYPROF_ASSIGN_OR_RETURN(const ValueId ignored, scalar(attributes.Int("ignore_index", 0)));
    TINYPROF_ASSIGN_OR_RETURN(const ValueId zero, scalar(0));
    TINYPROF_ASSIGN_OR_RETURN(is_ignored, EmitOne(source, node, "Equal", {classes, ignored}, {}));
    TINYPROF_ASSIGN_OR_RETURN(classes,
                              EmitOne(source, node, "Where", {is_ignored, zero, classes}, {}));
  }
  TINYPROF_ASSIGN_OR_RETURN(const ValueId column,
                            EmitOne(source, node, "Unsqueeze", {classes}, kChannelAxes));
  TINYPROF_ASSIGN_OR_RETURN(
      const ValueId picked,
      EmitOne(source, node, "GatherElements", {log_probabilities, column}, kChannelAxis));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId flat,
                            EmitOne(source, node, "Squeeze", {picked}, kChannelAxes));
  TINYPROF_ASSIGN_OR_RETURN(ValueId loss, EmitOne(source, node, "Neg", {flat}, {}));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId weights,
                            EmitTargetWeights(source, node, classes, is_ignored, dtype));
  if (weights != kNoValue) {
    TINYPROF_ASSIGN_OR_RETURN(loss, EmitOne(source, node, "Mul", {loss, weights}, {}));
  }
  const std::string reduction = attributes.String("reduction", "mean");
  const Attributes all = {{"keepdims", int64_t{0}}};
  if (reduction == "none") return loss;
  if (reduction == "mean" && weights == kNoValue) {
    return EmitOne(source, node, "ReduceMean", {loss}, all);
  }
  TINYPROF_ASSIGN_OR_RETURN(const ValueId sum, EmitOne(source, node, "ReduceSum", {loss}, all));
  if (reduction == "sum") return sum;
  if (reduction != "mean") return BadLoss(source, "its reduction is not known");
  TINYPROF_ASSIGN_OR_RETURN(const ValueId total,
                            EmitOne(source, node, "ReduceSum", {weights}, all));
  return EmitOne(source, node, "Div", {sum, total}, {});
}

Result<std::vector<ValueId>> OnnxReader::EmitLogLikelihood(const onnx::NodeProto& source, Node node,
                                                           size_t /*output_count*/) {
  if (node.inputs.size() < 2 || node.inputs[0] == kNoValue || node.inputs[1] == kNoValue) {
    return BadLoss(source, "2 inputs are wanted");
  }
  TINYPROF_ASSIGN_OR_RETURN(const ValueId loss, EmitLoss(source, node, node.inputs[0]));
  return std::vector<ValueId>{loss};
}

// The second output are the log probabilities.
Result<std::vector<ValueId>> OnnxReader::EmitCrossEntropy(const onnx::NodeProto& source, Node node,
                                                          size_t output_count) {
  if (node.inputs.size() < 2 || node.inputs[0] == kNoValue || node.inputs[1] == kNoValue) {
    return BadLoss(source, "2 inputs are wanted");
  }
  TINYPROF_ASSIGN_OR_RETURN(const ValueId log_probabilities,
                            EmitOne(source, node, "LogSoftmax", {node.inputs[0]}, kChannelAxis));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId loss, EmitLoss(source, node, log_probabilities));
  std::vector<ValueId> outputs{loss, log_probabilities};
  outputs.resize(std::min<size_t>(output_count, 2));
  return outputs;
}

}  // namespace tinyprof
