#include "kernels/quantization/prepare.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "kernels/graph/fusion.h"
#include "kernels/graph/origins.h"
#include "kernels/graph/prune.h"
#include "kernels/graph/readers.h"
#include "kernels/quantization/graph_edit.h"
#include "kernels/quantization/quantizable.h"

namespace tinyprof {
namespace {

bool HasInput(const Node& node, size_t index) {
  return index < node.inputs.size() && node.inputs[index] != kNoValue;
}

class Preparation {
 public:
  explicit Preparation(const Graph& graph)
      : original_(graph), readers_(graph), prepared_{.graph = graph}, edit_(prepared_.graph) {}

  PreparedGraph Run() && {
    for (const Node& node : original_.nodes) {
      if (folded_.contains(&node)) continue;
      if (node.op_type == "Conv") {
        nodes_.push_back(ConvWithNorm(node));
      } else if (CanBeMatmul(node)) {
        AddMatmul(node);
      } else {
        nodes_.push_back(node);
      }
    }
    prepared_.graph.nodes = std::move(nodes_);
    Prune(prepared_.graph);
    return std::move(prepared_);
  }

 private:
  // The BatchNormalization that can go into `conv`, or null.
  const Node* NormBehind(const Node& conv) const {
    const std::optional<size_t> only = readers_.Only(conv.outputs[0]);
    if (!only) return nullptr;
    const Node* norm = &original_.nodes[*only];
    if (norm->op_type != "BatchNormalization") return nullptr;
    if (norm->outputs.size() != 1 || !WhyNotQuantizable(original_, conv).empty()) return nullptr;
    const NodeSignature signature{.node = norm, .inputs = {}, .outputs = {}};
    if (signature.Int("training_mode", 0) != 0 || norm->inputs[0] != conv.outputs[0]) {
      return nullptr;
    }
    for (size_t i = 1; i < 5; ++i) {
      if (!IsInitializer(original_, norm->inputs[i]) || !IsFloat32(original_, norm->inputs[i])) {
        return nullptr;
      }
    }
    return norm;
  }

  // What `norm` does to each channel.
  std::vector<ChannelAffine> AffinesOf(const Node& norm) const {
    NodeSignature signature = SignatureOf(original_, norm, true);
    std::vector<std::vector<float>> elements(5);
    for (size_t i = 1; i < 5; ++i) {
      elements[i] = FloatsOf(original_, norm.inputs[i]);
      signature.inputs[i].data = elements[i].data();
    }
    FusedStep step;
    step.kind = FusedStep::Kind::kBatchNorm;
    step.inputs = {1, 2, 3, 4};
    step.epsilon = signature.Float("epsilon", 1e-5F);
    std::vector<ChannelAffine> affines;
    for (size_t channel = 0; channel < elements[1].size(); ++channel) {
      affines.push_back(AffineOf(signature, step, static_cast<int64_t>(channel)));
    }
    return affines;
  }

  Node ConvWithNorm(const Node& original) {
    Node conv = original;
    const Node* norm = NormBehind(original);
    if (norm == nullptr) return conv;
    folded_.insert(norm);
    ++prepared_.folded_batch_norms;
    const std::vector<ChannelAffine> affines = AffinesOf(*norm);
    const Value& weight = original_.value(conv.inputs[1]);
    std::vector<float> weights = FloatsOf(original_, conv.inputs[1]);
    std::vector<float> biases(affines.size());
    if (HasInput(conv, 2)) biases = FloatsOf(original_, conv.inputs[2]);
    const size_t run = weights.size() / affines.size();
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>(double{weights[i]} * affines[i / run].factor);
    }
    for (size_t c = 0; c < affines.size(); ++c) {
      biases[c] = static_cast<float>(double{biases[c]} * affines[c].factor + affines[c].offset);
    }
    conv.inputs.resize(3);
    const TensorType bias_type{DType::kFloat32, Shape{static_cast<int64_t>(biases.size())}};
    conv.inputs[1] = edit_.Initializer(weight.name, weight.type, DataOf(weights), true);
    conv.inputs[2] = edit_.Initializer(conv.name + ".bias", bias_type, DataOf(biases), true);
    conv.outputs = norm->outputs;
    SetOrigins(conv, {original.name, norm->name});
    return conv;
  }

  bool CanBeMatmul(const Node& gemm) const {
    if (gemm.op_type != "Gemm" || !IsInitializer(original_, gemm.inputs[1])) return false;
    if (!IsFloat32(original_, gemm.inputs[0])) return false;
    const NodeSignature signature{.node = &gemm, .inputs = {}, .outputs = {}};
    if (signature.Int("transA", 0) != 0) return false;
    return !HasInput(gemm, 2) || signature.Float("beta", 1) == 1 ||
           IsInitializer(original_, gemm.inputs[2]);
  }

  // K x N, times `factor`.
  ValueId MatmulWeight(ValueId id, bool transposed, float factor) {
    if (!transposed && factor == 1) return id;
    ValueId& made = weights_[{id, transposed, factor}];
    if (made != 0) return made;
    const Value& value = original_.value(id);
    std::vector<float> elements = FloatsOf(original_, id);
    const auto rows = static_cast<size_t>(value.type.shape[0]);
    const auto columns = static_cast<size_t>(value.type.shape[1]);
    std::vector<float> changed(elements.size());
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        changed[transposed ? j * rows + i : i * columns + j] = elements[i * columns + j] * factor;
      }
    }
    const Shape shape =
        transposed ? Shape{value.type.shape[1], value.type.shape[0]} : value.type.shape;
    made = edit_.Initializer(value.name, {DType::kFloat32, shape}, DataOf(changed),
                             value.is_parameter);
    return made;
  }

  ValueId ScaledBias(ValueId id, float factor) {
    if (factor == 1) return id;
    const Value& value = original_.value(id);
    std::vector<float> elements = FloatsOf(original_, id);
    for (float& element : elements) element *= factor;
    return edit_.Initializer(value.name, value.type, DataOf(elements), value.is_parameter);
  }

  void AddMatmul(const Node& gemm) {
    const NodeSignature signature{.node = &gemm, .inputs = {}, .outputs = {}};
    Node matmul{
        .name = gemm.name,
        .path = gemm.path,
        .op_type = "MatMul",
        .inputs = {gemm.inputs[0], MatmulWeight(gemm.inputs[1], signature.Int("transB", 0) != 0,
                                                signature.Float("alpha", 1))},
        .outputs = gemm.outputs,
        .attributes = {}};
    if (!HasInput(gemm, 2)) {
      nodes_.push_back(std::move(matmul));
      return;
    }
    const TensorType type = original_.value(gemm.outputs[0]).type;
    matmul.outputs = {edit_.Activation(gemm.name + "_product", type)};
    const ValueId bias = ScaledBias(gemm.inputs[2], signature.Float("beta", 1));
    Node add{.name = edit_.UniqueNodeName(gemm.name + "_bias"),
             .path = gemm.path,
             .op_type = "Add",
             .inputs = {matmul.outputs[0], bias},
             .outputs = gemm.outputs,
             .attributes = {}};
    // Of the MatMul that is no news, but half of the Gemm only.
    SetOrigins(add, {gemm.name});
    nodes_.push_back(std::move(matmul));
    nodes_.push_back(std::move(add));
  }

  const Graph& original_;
  const Readers readers_;
  PreparedGraph prepared_;
  GraphEdit edit_;
  std::vector<Node> nodes_;
  std::set<const Node*> folded_;
  // By weight, whether it is transposed, and factor; 0, which is no new value's id, until made.
  std::map<std::tuple<ValueId, bool, float>, ValueId> weights_;
};

}  // namespace

PreparedGraph PrepareForQuantization(const Graph& graph) { return Preparation(graph).Run(); }

}  // namespace tinyprof
