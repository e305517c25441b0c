#include "kernels/zoo/tinytorch_count.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/base/checked_math.h"
#include "kernels/graph/fusion.h"
#include "kernels/ops/op.h"

namespace tinyprof {
namespace {

// Operators that move or rename data and are no layer of the course.
constexpr std::array<std::string_view, 18> kPlumbing = {
    "Reorder", "Reshape",         "Transpose", "Concat",   "Slice", "Split",
    "Squeeze", "Unsqueeze",       "Expand",    "Tile",     "Shape", "Cast",
    "Pad",     "ConstantOfShape", "Identity",  "Constant", "Where", "Range"};

bool IsAny(std::string_view op_type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), op_type) != types.end();
}

bool IsWeight(const Graph& graph, const Node& node, size_t index) {
  return index < node.inputs.size() && node.inputs[index] != kNoValue &&
         graph.value(node.inputs[index]).kind == Value::Kind::kInitializer;
}

// An Add of a vector of parameters: the bias of the MatMul before it.
bool IsBiasAdd(const Graph& graph, const Node& node) {
  if (node.op_type != "Add") return false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (IsWeight(graph, node, i) && graph.value(node.inputs[i]).is_parameter &&
        graph.value(node.inputs[i]).type.shape.rank() == 1) {
      return true;
    }
  }
  return false;
}

Result<int64_t> MatrixFlops(const Graph& graph, const Node& node) {
  TINYPROF_ASSIGN_OR_RETURN(const Cost cost, CostOf(SignatureOf(graph, node, true)));
  return CheckedMul(2, cost.flops.mac);
}

Result<int64_t> AttentionFlops(const Graph& graph, const Node& node) {
  const Shape& query = graph.value(node.inputs[0]).type.shape;
  const Shape& key = graph.value(node.inputs[1]).type.shape;
  if (query.rank() == 3 && key.rank() == 3) {
    return CheckedProduct({4, query[0], query[1], key[1], query[2]});
  }
  return CheckedProduct({4, query[0], query[1], query[2], key[2], query[3]});
}

Result<int64_t> NodeFlops(const Graph& graph, const Node& node, bool is_gpt);

Result<int64_t> FlopsOfParts(const Graph& graph, const Node& node, bool is_gpt) {
  int64_t sum = 0;
  for (const FusedPart& part : node.fusion->parts) {
    TINYPROF_ASSIGN_OR_RETURN(const int64_t flop_count, NodeFlops(graph, part.node, is_gpt));
    TINYPROF_ASSIGN_OR_RETURN(sum, CheckedAdd(sum, flop_count));
  }
  return sum;
}

Result<int64_t> NodeFlops(const Graph& graph, const Node& node, bool is_gpt) {
  if (FindOperator(node.op_type) == nullptr) return 0;
  if (node.fusion != nullptr) return FlopsOfParts(graph, node, is_gpt);
  if (node.op_type == "Attention") return AttentionFlops(graph, node);
  if (IsAny(node.op_type, {"MatMul", "Gemm", "Conv"})) return MatrixFlops(graph, node);
  const bool plumbing =
      std::find(kPlumbing.begin(), kPlumbing.end(), node.op_type) != kPlumbing.end();
  if (is_gpt || plumbing || IsBiasAdd(graph, node)) return 0;
  // An embedding is fed by its indices; every other layer by its first input.
  const size_t fed_by = node.op_type == "Gather" && IsWeight(graph, node, 0) ? 1 : 0;
  if (IsWeight(graph, node, fed_by) || node.inputs.size() <= fed_by) return 0;
  const ValueId input = node.inputs[fed_by];
  return input == kNoValue ? 0 : graph.value(input).type.shape.element_count();
}

}  // namespace

Result<int64_t> TinyTorchFlopCount(const Graph& graph) {
  const bool is_gpt = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                  [](const Node& node) { return node.op_type == "Attention"; });
  int64_t total = 0;
  for (const Node& node : graph.nodes) {
    TINYPROF_ASSIGN_OR_RETURN(const int64_t flop_count, NodeFlops(graph, node, is_gpt));
    TINYPROF_ASSIGN_OR_RETURN(total, CheckedAdd(total, flop_count));
  }
  if (graph.inputs.empty()) return total;
  const Shape& input = graph.value(graph.inputs[0]).type.shape;
  return input.rank() == 0 || input[0] == 0 ? total : total / input[0];
}

}  // namespace tinyprof
