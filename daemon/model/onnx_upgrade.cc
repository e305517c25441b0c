#include "daemon/model/onnx_upgrade.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/ops/convert.h"
#include "kernels/quantization/graph_edit.h"

namespace tinyprof {
namespace {

constexpr int64_t kLowestOpset = 7;
constexpr int64_t kNewOpset = 13;

// Operators that mean the same in opsets 7 to 13, spelled in the same way, as the reader leaves
// them (ONNX, Operators.md and Changelog.md).
constexpr std::string_view kUnchanged =
    " Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool Cast Ceil Celu "
    "Compress Concat Conv ConvInteger ConvTranspose Cos Cosh CumSum DepthToSpace "
    "DequantizeLinear Det Div DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand EyeLike "
    "Flatten Floor GRU Gather GatherElements GatherND Gemm GlobalAveragePool "
    "GlobalMaxPool Greater GreaterOrEqual HardSigmoid Hardmax Identity InstanceNormalization "
    "IsInf IsNaN LRN LSTM LeakyRelu Less LessOrEqual Log LogSoftmax "
    "MatMul MatMulInteger Max MaxPool Mean Min Mod Mul Neg NonMaxSuppression NonZero Not "
    "OneHot Or PRelu Pow QLinearConv QLinearMatMul QuantizeLinear RNN Range Reciprocal "
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
    "ReduceProd ReduceSumSquare Relu Reshape Resize ReverseSequence Round ScatterElements "
    "ScatterND Selu Shape Sigmoid Sign Sin Sinh Softmax Softplus Softsign SpaceToDepth Sqrt "
    "Sub Sum Tan Tanh ThresholdedRelu Tile Transpose Where Xor ";

bool IsUnchanged(std::string_view op) {
  return kUnchanged.find(fmt::format(" {} ", op)) != std::string_view::npos;
}

class Upgrade {
 public:
  explicit Upgrade(const Graph& graph) : graph_(graph), edit_(graph_) {}

  Result<Graph> Run() && {
    std::vector<std::string> without_way;
    for (Node& node : graph_.nodes) {
      if (!Rewrite(node)) without_way.push_back(fmt::format("{} ({})", node.op_type, node.name));
    }
    if (!without_way.empty()) {
      const std::string nodes = fmt::format("{}", fmt::join(without_way, ", "));
      return Fail(ErrorCode::kUnimplemented, "OPSET_NOT_SUPPORTED",
                  fmt::format("{} is of opset {}, and these nodes have no form in opset {} that is "
                              "known: {}; convert the model",
                              graph_.name, graph_.opset, kNewOpset, nodes),
                  {{"opset", std::to_string(graph_.opset)}, {"nodes", nodes}});
    }
    graph_.opset = kNewOpset;
    // Nodes that were read as several have given all of their values one name.
    MakeNamesUnique(graph_);
    return std::move(graph_);
  }

 private:
  // False: no way is known.
  bool Rewrite(Node& node) {
    if (IsUnchanged(node.op_type)) return true;
    const std::string& op = node.op_type;
    if (op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum") return Move(node, "axes", 1);
    if (op == "Split") return Move(node, "split", 1);
    if (op == "TopK") return Move(node, "k", 1);
    if (op == "Slice") {
      return Move(node, "starts", 1) && Move(node, "ends", 2) && Move(node, "axes", 3);
    }
    if (op == "Clip") return Move(node, "min", 1) && Move(node, "max", 2);
    if (op == "Pad") return Move(node, "pads", 1) && Move(node, "value", 2);
    // What only training looks at.
    if (op == "Dropout") return node.attributes.erase("ratio") <= 1;
    // Statistics by channel, which all that can be read have.
    if (op == "BatchNormalization") return node.attributes.erase("spatial") <= 1;
    return false;
  }

  // An attribute, where there is one, becomes the input at `position`: a list of integers, or a
  // number of the data's type.
  bool Move(Node& node, std::string_view name, size_t position) {
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end()) return true;
    const std::string value_name = fmt::format("{}_{}", node.name, name);
    ValueId made = kNoValue;
    if (const auto* list = std::get_if<std::vector<int64_t>>(&found->second)) {
      made = Integers(value_name, *list);
    } else if (const auto* integer = std::get_if<int64_t>(&found->second)) {
      made = Integers(value_name, {*integer});
    } else if (const auto* number = std::get_if<float>(&found->second)) {
      made = Number(value_name, graph_.value(node.inputs[0]).type.dtype, *number);
    } else {
      return false;
    }
    if (node.inputs.size() <= position) node.inputs.resize(position + 1, kNoValue);
    node.inputs[position] = made;
    node.attributes.erase(found);
    return true;
  }

  ValueId Number(const std::string& name, DType dtype, float number) {
    auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(ByteSize(dtype)));
    FindConversion(DType::kFloat32, dtype)(&number, bytes->data(), 0, 1);
    return edit_.Initializer(name, {dtype, Shape()},
                             {.kind = Fill::Kind::kData, .data = std::move(bytes)}, false);
  }

  ValueId Integers(const std::string& name, const std::vector<int64_t>& elements) {
    return edit_.Initializer(name, {DType::kInt64, Shape{static_cast<int64_t>(elements.size())}},
                             Fill::Int64s(elements), false);
  }

  Graph graph_;
  GraphEdit edit_;
};

}  // namespace

Result<Graph> UpgradedGraph(const Graph& graph) {
  if (graph.opset == 0 || graph.opset >= kNewOpset) return graph;
  if (graph.opset < kLowestOpset) {
    return Fail(ErrorCode::kUnimplemented, "OPSET_NOT_SUPPORTED",
                fmt::format("{} is of opset {}, and models of opset {} and later can be rewritten: "
                            "convert it",
                            graph.name, graph.opset, kLowestOpset),
                {{"opset", std::to_string(graph.opset)}});
  }
  return Upgrade(graph).Run();
}

}  // namespace tinyprof
