#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "kernels/graph/fusion.h"
#include "kernels/ops/families.h"
#include "kernels/ops/op.h"

namespace tinyprof {
namespace {

constexpr std::array kFamilies = {
    &MatmulOperators,    &ConvOperators,        &PoolOperators,   &NormOperators,
    &SoftmaxOperators,   &ElementwiseOperators, &ReduceOperators, &EmbeddingOperators,
    &AttentionOperators, &RecurrentOperators,   &ShapeOperators,  &IndexOperators,
    &ResizeOperators,    &QuantizeOperators,    &EinsumOperators, &SignalOperators,
    &ReorderOperators,
};

using Table = std::map<std::string_view, const Operator*>;

const Table& ByType() {
  static const Table table = [] {
    Table by_type;
    for (const auto family : kFamilies) {
      for (const Operator& op : family()) by_type.emplace(op.type, &op);
    }
    return by_type;
  }();
  return table;
}

Result<const Operator*> OperatorOf(const NodeSignature& signature) {
  const std::string& type = signature.node->op_type;
  const Operator* op = FindOperator(type);
  if (op == nullptr) {
    return Fail(ErrorCode::kUnimplemented, "UNKNOWN_OPERATOR",
                fmt::format("operator {} is not known", type), {{"operator", type}});
  }
  return op;
}

// The operations of a fused node are those of its parts.
Result<Cost> CostOfParts(const NodeSignature& fused) {
  Cost sum;
  for (size_t i = 0; i < fused.node->fusion->parts.size(); ++i) {
    const NodeSignature part = PartSignature(fused, i);
    TINYPROF_ASSIGN_OR_RETURN(const Operator* op, OperatorOf(part));
    TINYPROF_ASSIGN_OR_RETURN(const Cost cost, op->cost(part));
    sum += cost;
  }
  return sum;
}

}  // namespace

const Operator* FindOperator(std::string_view type) {
  const auto found = ByType().find(type);
  return found == ByType().end() ? nullptr : found->second;
}

std::vector<const Operator*> AllOperators() {
  std::vector<const Operator*> all;
  for (const auto family : kFamilies) {
    for (const Operator& op : family()) all.push_back(&op);
  }
  return all;
}

Result<std::vector<TensorType>> InferTypes(const NodeSignature& signature, size_t output_count) {
  TINYPROF_ASSIGN_OR_RETURN(const Operator* op, OperatorOf(signature));
  size_t present = 0;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    if (signature.inputs[i].present) present = i + 1;
  }
  bool missing = present < op->min_inputs || present > op->max_inputs;
  for (size_t i = 0; i < op->min_inputs && !missing; ++i) missing = !signature.has_input(i);
  if (missing) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_INPUT_COUNT",
                fmt::format("{} takes {} to {} inputs, got {}", op->type, op->min_inputs,
                            op->max_inputs, present));
  }
  return op->infer(signature, output_count);
}

Result<Cost> CostOf(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const Operator* op, OperatorOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(Cost cost, op->cost(signature));
  if (signature.node->fusion != nullptr) {
    TINYPROF_ASSIGN_OR_RETURN(cost, CostOfParts(signature));
  }
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const NodeSignature::Input& input = signature.inputs[i];
    if (!input.present) continue;
    const int64_t bytes =
        op->bytes_read != nullptr ? op->bytes_read(signature, i) : input.type.byte_size();
    (input.is_weight ? cost.weight_bytes : cost.input_bytes) += bytes;
  }
  for (const TensorType& output : signature.outputs) cost.output_bytes += output.byte_size();
  return cost;
}

}  // namespace tinyprof
