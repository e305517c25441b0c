#include "kernels/quantization/quantizable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/quantization/graph_edit.h"

namespace tinyprof {
namespace {

constexpr std::array<std::string_view, 13> kCandidates = {
    "Conv",        "ConvTranspose", "MatMul",       "Gemm",   "LSTM",
    "GRU",         "RNN",           "Attention",    "Einsum", "QLinearConv",
    "ConvInteger", "QLinearMatMul", "MatMulInteger"};

constexpr const char* kBothComputed = "both operands are computed in the run";

// The most products of an activation (up to 255) and a weight (up to 127) that int32 can sum.
constexpr int64_t kMostProducts = std::numeric_limits<int32_t>::max() / (255 * 127);

bool IsFinite(const Graph& graph, ValueId id) {
  const std::vector<float> floats = FloatsOf(graph, id);
  return std::all_of(floats.begin(), floats.end(), [](float x) { return std::isfinite(x); });
}

std::string WhyNotWeight(const Graph& graph, ValueId weight, int64_t products) {
  if (!IsInitializer(graph, weight)) return "its weights are computed in the run";
  if (!IsFloat32(graph, weight)) {
    return fmt::format("its weights are {}", Name(graph.value(weight).type.dtype));
  }
  if (graph.value(weight).type.shape.element_count() == 0) return "it has no weights";
  if (products > kMostProducts) {
    return fmt::format("its sums of {} products may not fit int32", products);
  }
  return IsFinite(graph, weight)
             ? ""
             : "its weights, with the scales that were folded into them, are not all finite";
}

std::string WhyNotActivation(const Graph& graph, ValueId activation) {
  if (!IsFloat32(graph, activation)) {
    return fmt::format("its input is {}", Name(graph.value(activation).type.dtype));
  }
  if (graph.value(activation).type.shape.element_count() == 0) return "its input is empty";
  return IsInitializer(graph, activation) ? "its input is constant" : "";
}

std::string WhyNotConv(const Graph& graph, const Node& node) {
  if (std::string why = WhyNotActivation(graph, node.inputs[0]); !why.empty()) return why;
  const Shape& shape = graph.value(node.inputs[1]).type.shape;
  const int64_t products = shape[0] == 0 ? 0 : shape.element_count() / shape[0];
  if (std::string why = WhyNotWeight(graph, node.inputs[1], products); !why.empty()) return why;
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return "";
  if (!IsInitializer(graph, node.inputs[2])) return "its bias is computed in the run";
  return IsFinite(graph, node.inputs[2]) ? "" : "its bias is not all finite";
}

std::string WhyNotMatmul(const Graph& graph, const Node& node) {
  if (!IsInitializer(graph, node.inputs[1])) {
    return IsInitializer(graph, node.inputs[0]) ? "its weights are the left operand"
                                                : kBothComputed;
  }
  if (std::string why = WhyNotActivation(graph, node.inputs[0]); !why.empty()) return why;
  if (graph.value(node.inputs[0]).type.shape.rank() < 2) return "its input is a vector";
  const Shape& shape = graph.value(node.inputs[1]).type.shape;
  if (shape.rank() != 2) return "its weights are no matrix";
  return WhyNotWeight(graph, node.inputs[1], shape[0]);
}

// Preparation makes a MatMul of every Gemm that can be one.
std::string WhyNotGemm(const Graph& graph, const Node& node) {
  if (!IsInitializer(graph, node.inputs[1])) return "its weights are computed in the run";
  const auto trans_a = node.attributes.find("transA");
  if (trans_a != node.attributes.end() && trans_a->second != Attribute(int64_t{0})) {
    return "its input is transposed";
  }
  return "its bias is scaled in the run";
}

}  // namespace

std::string_view Name(QuantizationMode mode) {
  return mode == QuantizationMode::kStatic ? "static" : "dynamic";
}

bool IsCandidate(const Node& node) {
  return std::find(kCandidates.begin(), kCandidates.end(), node.op_type) != kCandidates.end();
}

std::string WhyNotQuantizable(const Graph& graph, const Node& node) {
  if (node.op_type.starts_with("QLinear") || node.op_type.ends_with("Integer")) {
    return "it is quantized already";
  }
  if (node.op_type == "Conv") return WhyNotConv(graph, node);
  if (node.op_type == "MatMul") return WhyNotMatmul(graph, node);
  if (node.op_type == "Gemm") return WhyNotGemm(graph, node);
  if (node.op_type == "Attention") return kBothComputed;
  return fmt::format("ONNX has no {} of 8-bit numbers", node.op_type);
}

}  // namespace tinyprof
