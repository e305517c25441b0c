#include "kernels/quantization/dynamic_quantization.h"

#include <map>
#include <utility>

#include "kernels/graph/origins.h"
#include "kernels/graph/prune.h"
#include "kernels/quantization/weights.h"

namespace tinyprof {
namespace {

constexpr int64_t kOnnxFloat = 1;  // TensorProto.FLOAT

class DynamicQuantization {
 public:
  DynamicQuantization(const Graph& graph, const std::vector<bool>& quantized)
      : original_(graph),
        quantized_(quantized),
        result_(graph),
        edit_(result_),
        weights_(original_, edit_) {}

  Graph Run() && {
    for (size_t i = 0; i < original_.nodes.size(); ++i) {
      if (quantized_[i]) {
        Quantize(original_.nodes[i]);
      } else {
        nodes_.push_back(original_.nodes[i]);
      }
    }
    result_.nodes = std::move(nodes_);
    Prune(result_);
    MakeNamesUnique(result_);
    return std::move(result_);
  }

 private:
  struct Bytes {
    ValueId value = kNoValue;
    ValueId scale = kNoValue;
    ValueId zero_point = kNoValue;
  };

  void AddNode(const Node& of, const std::string& suffix, std::string op_type,
               std::vector<ValueId> inputs, std::vector<ValueId> outputs,
               Attributes attributes = {}) {
    nodes_.push_back({.name = suffix.empty() ? of.name : edit_.UniqueNodeName(of.name + suffix),
                      .path = of.path,
                      .op_type = std::move(op_type),
                      .inputs = std::move(inputs),
                      .outputs = std::move(outputs),
                      .attributes = std::move(attributes)});
  }

  // As AddNode, of one of the nodes that do the work of `of` together.
  void AddPart(const Node& of, const std::string& suffix, std::string op_type,
               std::vector<ValueId> inputs, std::vector<ValueId> outputs,
               Attributes attributes = {}) {
    AddNode(of, suffix, std::move(op_type), std::move(inputs), std::move(outputs),
            std::move(attributes));
    SetOrigins(nodes_.back(), NodesFor(of));
  }

  const Bytes& BytesOf(ValueId id, const Node& reader) {
    Bytes& bytes = bytes_[id];
    if (bytes.value != kNoValue) return bytes;
    const Value value = original_.value(id);
    bytes.value = edit_.Activation(value.name + "_quantized", {DType::kUInt8, value.type.shape});
    bytes.scale = edit_.Activation(value.name + "_scale", {DType::kFloat32, Shape()});
    bytes.zero_point = edit_.Activation(value.name + "_zero_point", {DType::kUInt8, Shape()});
    AddNode(reader, "_quantize", "DynamicQuantizeLinear", {id},
            {bytes.value, bytes.scale, bytes.zero_point});
    return bytes;
  }

  // `scale` of each channel, in a shape that meets the channels of the node's output.
  ValueId ByChannel(const Node& node, ValueId list) {
    const Value value = result_.value(list);
    const size_t rank = original_.value(node.outputs[0]).type.shape.rank();
    if (node.op_type != "Conv") return list;
    std::vector<int64_t> dims(rank - 1, 1);
    dims[0] = value.type.shape[0];
    return edit_.Initializer(value.name, {value.type.dtype, Shape(std::move(dims))}, value.fill,
                             value.is_parameter);
  }

  void Quantize(const Node& node) {
    const bool is_conv = node.op_type == "Conv";
    const Shape& shape = original_.value(node.inputs[1]).type.shape;
    const WeightQuantizer::Quantized w = weights_.Quantize(
        node.inputs[1], is_conv ? WeightLayout::OfConv(shape) : WeightLayout::OfMatmul(shape), {});
    const Bytes x = BytesOf(node.inputs[0], node);
    const bool has_bias = is_conv && node.inputs.size() > 2 && node.inputs[2] != kNoValue;
    const ValueId output = node.outputs[0];
    const TensorType type = original_.value(output).type;

    const ValueId sums = edit_.Activation(node.name + "_sums", {DType::kInt32, type.shape});
    AddPart(node, "", is_conv ? "ConvInteger" : "MatMulInteger", {x.value, w.weight, x.zero_point},
            {sums}, node.attributes);
    const ValueId floats = edit_.Activation(node.name + "_floats", type);
    AddPart(node, "_cast", "Cast", {sums}, {floats}, {{"to", kOnnxFloat}});
    const ValueId w_scale = ByChannel(node, w.scale);
    const ValueId scale = edit_.Activation(node.name + "_scale",
                                           {DType::kFloat32, result_.value(w_scale).type.shape});
    AddPart(node, "_scales", "Mul", {x.scale, w_scale}, {scale});
    const ValueId product = has_bias ? edit_.Activation(node.name + "_product", type) : output;
    AddPart(node, "_scale", "Mul", {floats, scale}, {product});
    if (has_bias)
      AddPart(node, "_bias", "Add", {product, ByChannel(node, node.inputs[2])}, {output});
  }

  const Graph& original_;
  const std::vector<bool>& quantized_;
  Graph result_;
  GraphEdit edit_;
  WeightQuantizer weights_;
  std::vector<Node> nodes_;
  std::map<ValueId, Bytes> bytes_;
};

}  // namespace

Graph QuantizeDynamic(const Graph& graph, const std::vector<bool>& quantized) {
  return DynamicQuantization(graph, quantized).Run();
}

}  // namespace tinyprof
