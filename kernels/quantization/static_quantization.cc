#include "kernels/quantization/static_quantization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/graph/origins.h"
#include "kernels/graph/prune.h"
#include "kernels/graph/readers.h"
#include "kernels/quantization/weights.h"

namespace tinyprof {
namespace {

constexpr std::array<std::string_view, 7> kMovers = {"MaxPool", "Reshape",   "Flatten", "Transpose",
                                                     "Squeeze", "Unsqueeze", "Identity"};

// Whether the node only moves or compares elements, so that it gives the same of bytes.
bool TakesBytes(const Node& node) {
  return node.outputs.size() == 1 &&
         std::find(kMovers.begin(), kMovers.end(), node.op_type) != kMovers.end();
}

// A bound of a Clip, from its attribute (before opset 11) or input; nothing: not known.
std::optional<float> BoundOf(const Graph& graph, const Node& clip, size_t input,
                             std::string_view attribute, float fallback) {
  const NodeSignature signature{.node = &clip, .inputs = {}, .outputs = {}};
  if (input >= clip.inputs.size() || clip.inputs[input] == kNoValue) {
    return signature.Float(attribute, fallback);
  }
  const Value& bound = graph.value(clip.inputs[input]);
  const bool is_known =
      bound.kind == Value::Kind::kInitializer && bound.type == TensorType{DType::kFloat32, Shape()};
  if (!is_known) return std::nullopt;
  return FloatsOf(graph, clip.inputs[input])[0];
}

// Whether saturation to the node's own range, which holds 0, does what the node does.
bool IsSaturation(const Graph& graph, const Node& node) {
  if (node.op_type == "Relu") return true;
  if (node.op_type != "Clip") return false;
  const auto low = BoundOf(graph, node, 1, "min", -std::numeric_limits<float>::infinity());
  const auto high = BoundOf(graph, node, 2, "max", std::numeric_limits<float>::infinity());
  return low && high && *low <= 0 && *high >= 0;
}

// The node that goes with a quantized one as the ends of its range, or null.
const Node* SaturationBehind(const Readers& readers, const Node& node) {
  const Graph& graph = readers.graph();
  const std::optional<size_t> only = readers.Only(node.outputs[0]);
  const Node* next = only ? &graph.nodes[*only] : nullptr;
  const bool goes_with =
      next != nullptr && next->inputs[0] == node.outputs[0] && IsSaturation(graph, *next);
  return goes_with ? next : nullptr;
}

class StaticQuantization {
 public:
  StaticQuantization(const Graph& graph, const std::vector<bool>& quantized,
                     const ValueRanges& ranges)
      : original_(graph),
        quantized_(quantized),
        ranges_(ranges),
        readers_(graph),
        result_(graph),
        edit_(result_),
        weights_(original_, edit_) {}

  Graph Run() && {
    for (size_t i = 0; i < original_.nodes.size(); ++i) {
      const Node& node = original_.nodes[i];
      if (absorbed_.contains(&node)) continue;
      if (quantized_[i]) {
        Quantize(node);
      } else if (TakesBytes(node) && bytes_.contains(node.inputs[0])) {
        MoveBytes(node);
      } else {
        for (const ValueId id : node.inputs) AsFloat(id, node);
        nodes_.push_back(node);
      }
    }
    for (const ValueId id : original_.outputs) AsFloat(id, nodes_.back());
    result_.nodes = std::move(nodes_);
    Prune(result_);
    MakeNamesUnique(result_);
    return std::move(result_);
  }

 private:
  // A value as uint8.
  struct Bytes {
    ValueId value;
    ByteScale scale;
    bool has_float = false;  // whether the float32 value is there too
  };
  // The initializers that hold a scale and its zero point.
  struct ScaleValues {
    ValueId scale;
    ValueId zero_point;
  };

  // The node behind that saturation to the range of its output stands in for. A range that is only
  // 0 has steps beyond it, which are no bounds.
  const Node* Absorbable(const Node& node) const {
    const Node* saturation = SaturationBehind(readers_, node);
    if (saturation == nullptr || saturation->op_type == "Relu") return saturation;
    const ValueRange& range = ranges_.at(saturation->outputs[0]);
    return range.low < 0 || range.high > 0 ? saturation : nullptr;
  }

  ByteScale ScaleOf(ValueId id) const { return ByteScaleOf(ranges_.at(id)); }

  ScaleValues ValuesOf(const ByteScale& scale, const std::string& name) {
    const auto key = std::pair(scale.scale, scale.zero_point);
    const auto known = scales_.find(key);
    if (known != scales_.end()) return known->second;
    const ScaleValues made{
        edit_.Initializer(name + "_scale", {DType::kFloat32, Shape()},
                          DataOf(std::vector<float>{scale.scale}), false),
        edit_.Initializer(name + "_zero_point", {DType::kUInt8, Shape()},
                          DataOf(std::vector<uint8_t>{scale.zero_point}), false)};
    scales_.emplace(key, made);
    return made;
  }

  std::string NameOf(ValueId id) const { return original_.value(id).name; }

  ValueId NewBytes(ValueId id, const ByteScale& scale) {
    const ValueId made = edit_.Activation(NameOf(id) + "_quantized",
                                          {DType::kUInt8, original_.value(id).type.shape});
    bytes_[id] = {made, scale};
    return made;
  }

  void AddBorder(std::string_view op_type, ValueId from, ValueId to, const ScaleValues& scale,
                 ValueId named, const Node& beside) {
    nodes_.push_back({.name = edit_.UniqueNodeName(NameOf(named) + "_" + std::string(op_type)),
                      .path = beside.path,
                      .op_type = std::string(op_type),
                      .inputs = {from, scale.scale, scale.zero_point},
                      .outputs = {to},
                      .attributes = {}});
  }

  // Sees to it that the float32 value is there for `reader`.
  void AsFloat(ValueId id, const Node& reader) {
    const auto bytes = bytes_.find(id);
    if (bytes == bytes_.end() || bytes->second.has_float) return;
    bytes->second.has_float = true;
    AddBorder("DequantizeLinear", bytes->second.value, id,
              ValuesOf(bytes->second.scale, NameOf(id)), id, reader);
  }

  Bytes AsBytes(ValueId id, const Node& reader) {
    if (!bytes_.contains(id)) {
      const ByteScale scale = ScaleOf(id);
      const ValueId made = NewBytes(id, scale);
      bytes_[id].has_float = true;
      AddBorder("QuantizeLinear", id, made, ValuesOf(scale, NameOf(id)), id, reader);
    }
    return bytes_.at(id);
  }

  void MoveBytes(const Node& node) {
    const Bytes from = bytes_.at(node.inputs[0]);
    Node moved = node;
    moved.inputs[0] = from.value;
    moved.outputs = {NewBytes(node.outputs[0], from.scale)};
    nodes_.push_back(std::move(moved));
  }

  void Quantize(const Node& node) {
    ValueId output = node.outputs[0];
    std::vector<std::string> origins = NodesFor(node);
    if (const Node* saturation = Absorbable(node)) {
      absorbed_.insert(saturation);
      origins.push_back(saturation->name);
      output = saturation->outputs[0];
    }
    const Bytes x = AsBytes(node.inputs[0], node);
    const bool is_conv = node.op_type == "Conv";
    const std::vector<float> biases = is_conv ? BiasesOf(node) : std::vector<float>();
    const Shape& shape = original_.value(node.inputs[1]).type.shape;
    const WeightQuantizer::Quantized w = weights_.Quantize(
        node.inputs[1], is_conv ? WeightLayout::OfConv(shape) : WeightLayout::OfMatmul(shape),
        FloorsOf(biases, x.scale.scale));
    const ByteScale y_scale = ScaleOf(output);
    const ScaleValues x_values = ValuesOf(x.scale, NameOf(node.inputs[0]));
    const ScaleValues y_values = ValuesOf(y_scale, NameOf(output));
    Node product = node;
    product.op_type = is_conv ? "QLinearConv" : "QLinearMatMul";
    product.inputs = {x.value, x_values.scale, x_values.zero_point, w.weight,
                      w.scale, w.zero_point,   y_values.scale,      y_values.zero_point};
    if (!biases.empty()) product.inputs.push_back(Bias(node, biases, w.scales, x.scale.scale));
    product.outputs = {NewBytes(output, y_scale)};
    SetOrigins(product, origins);
    nodes_.push_back(std::move(product));
  }

  std::vector<float> BiasesOf(const Node& conv) const {
    const bool has_bias = conv.inputs.size() > 2 && conv.inputs[2] != kNoValue;
    return has_bias ? FloatsOf(original_, conv.inputs[2]) : std::vector<float>();
  }

  // The least scale of each channel's weights with which its bias stays below 2^30 steps.
  static std::vector<float> FloorsOf(const std::vector<float>& biases, float x_scale) {
    constexpr double kMostSteps = 1 << 30;
    std::vector<float> floors;
    for (const float bias : biases) {
      floors.push_back(static_cast<float>(std::fabs(double{bias}) / (x_scale * kMostSteps)));
    }
    return floors;
  }

  ValueId Bias(const Node& conv, const std::vector<float>& biases,
               const std::vector<float>& w_scales, float x_scale) {
    std::vector<int32_t> steps;
    for (size_t c = 0; c < biases.size(); ++c) {
      steps.push_back(QuantizedBias(biases[c], double{x_scale} * double{w_scales[c]}));
    }
    return edit_.Initializer(NameOf(conv.inputs[2]) + "_quantized",
                             {DType::kInt32, Shape{static_cast<int64_t>(steps.size())}},
                             DataOf(steps), true);
  }

  const Graph& original_;
  const std::vector<bool>& quantized_;
  const ValueRanges& ranges_;
  const Readers readers_;
  Graph result_;
  GraphEdit edit_;
  WeightQuantizer weights_;
  std::vector<Node> nodes_;
  std::set<const Node*> absorbed_;
  std::map<ValueId, Bytes> bytes_;
  std::map<std::pair<float, uint8_t>, ScaleValues> scales_;
};

}  // namespace

std::set<ValueId> ValuesToCalibrate(const Graph& graph, const std::vector<bool>& quantized) {
  const Readers readers(graph);
  std::set<ValueId> values;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!quantized[i]) continue;
    const Node& node = graph.nodes[i];
    const Node* saturation = SaturationBehind(readers, node);
    values.insert(node.inputs[0]);
    if (saturation != nullptr) values.insert(saturation->outputs[0]);
    // Whether a Clip goes with the node, its range tells.
    if (saturation == nullptr || saturation->op_type != "Relu") values.insert(node.outputs[0]);
  }
  return values;
}

Graph QuantizeStatic(const Graph& graph, const std::vector<bool>& quantized,
                     const ValueRanges& ranges) {
  return StaticQuantization(graph, quantized, ranges).Run();
}

}  // namespace tinyprof
