#include "kernels/runtime/fusion_match.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

namespace tinyprof {
namespace {

struct Activation {
  std::string_view type;
  float alpha;  // defaults of its attributes
  float beta;
};
constexpr std::array kActivations = {
    Activation{"Relu", 0, 0},      Activation{"LeakyRelu", 0.01F, 0},
    Activation{"Elu", 1, 0},       Activation{"Sigmoid", 0, 0},
    Activation{"HardSwish", 0, 0}, Activation{"Tanh", 0, 0},
    Activation{"Swish", 0, 0},     Activation{"Softplus", 0, 0},
    Activation{"Gelu", 0, 0},      Activation{"HardSigmoid", 0.2F, 0.5F}};

bool IsConvolution(const Node& head) {
  return head.op_type == "Conv" || head.op_type == "ConvTranspose";
}

bool IsFloat32(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).type.dtype == DType::kFloat32;
}

bool IsInitializer(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).kind == Value::Kind::kInitializer;
}

// The number that a float32 initializer of one element holds.
std::optional<float> NumberOf(const Graph& graph, ValueId id) {
  if (!IsInitializer(graph, id) || !IsFloat32(graph, id)) return std::nullopt;
  const Value& value = graph.value(id);
  if (value.type.shape.element_count() != 1) return std::nullopt;
  float number = 0;
  Materialize(value.fill, DType::kFloat32, 0, 1, &number);
  return number;
}

bool IsNear(float number, double wanted) {
  return std::fabs(number - wanted) <= 1e-6 * std::fabs(wanted);
}

float FloatOf(const Node& node, std::string_view name, float fallback) {
  const auto found = node.attributes.find(name);
  const float* value =
      found == node.attributes.end() ? nullptr : std::get_if<float>(&found->second);
  return value == nullptr ? fallback : *value;
}

bool IsTanhGelu(const Node& node) {
  const auto found = node.attributes.find("approximate");
  return found != node.attributes.end() && found->second == Attribute(std::string("tanh"));
}

// The bounds of a Clip whose bounds are constants.
struct Bounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};
std::optional<Bounds> BoundsOf(const Graph& graph, const Node& clip) {
  Bounds bounds;
  bounds.low = FloatOf(clip, "min", bounds.low);
  bounds.high = FloatOf(clip, "max", bounds.high);
  const std::array<float*, 3> targets = {nullptr, &bounds.low, &bounds.high};
  for (size_t i = 1; i < clip.inputs.size(); ++i) {
    if (clip.inputs[i] == kNoValue) continue;
    const std::optional<float> number = NumberOf(graph, clip.inputs[i]);
    if (!number) return std::nullopt;
    *targets[i] = *number;
  }
  return bounds;
}

bool HasOneOutput(const Node& node) {
  return node.outputs.size() == 1 && node.outputs[0] != kNoValue;
}

FusedStep ActivationStep(std::string_view type, float alpha = 0, float beta = 0) {
  FusedStep step;
  step.kind = FusedStep::Kind::kActivation;
  step.activation = type;
  step.alpha = alpha;
  step.beta = beta;
  return step;
}

// The activation that `node` is, whatever it is of.
std::optional<FusedStep> ActivationOf(const Graph& graph, const Node& node) {
  if (node.op_type == "Clip") {
    const std::optional<Bounds> bounds = BoundsOf(graph, node);
    if (!bounds) return std::nullopt;
    return ActivationStep("Clip", bounds->low, bounds->high);
  }
  for (const Activation& activation : kActivations) {
    if (activation.type != node.op_type) continue;
    const bool by_tanh = node.op_type == "Gelu" && IsTanhGelu(node);
    return ActivationStep(by_tanh ? "GeluTanh" : activation.type,
                          FloatOf(node, "alpha", activation.alpha),
                          FloatOf(node, "beta", activation.beta));
  }
  return std::nullopt;
}

// Whether `operand` has one element for each channel of y, or one for all.
bool IsByChannel(const Graph& graph, const Node& head, ValueId operand, const Shape& y) {
  if (!IsInitializer(graph, operand)) return false;
  const Shape& shape = graph.value(operand).type.shape;
  const size_t axis = IsConvolution(head) ? 1 : y.rank() - 1;
  if (y.rank() == 0 || shape.rank() > y.rank() || shape.element_count() != y[axis]) return false;
  for (size_t d = 0; d < shape.rank(); ++d) {
    const size_t of_y = y.rank() - shape.rank() + d;
    if (shape[d] != (of_y == axis ? y[axis] : 1)) return false;
  }
  return true;
}

std::optional<Follower> NormFollower(const Readers& readers, const Node& head, ValueId y,
                                     size_t index) {
  const Graph& graph = readers.graph();
  const Node& node = graph.nodes[index];
  if (!IsConvolution(head) || !IsInitializer(graph, head.inputs[1])) return std::nullopt;
  if (head.outputs[0] != y || node.inputs[0] != y) return std::nullopt;
  if (head.inputs.size() > 2 && head.inputs[2] != kNoValue &&
      !IsInitializer(graph, head.inputs[2])) {
    return std::nullopt;
  }
  Follower follower;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!IsInitializer(graph, node.inputs[i])) return std::nullopt;
    follower.operands.push_back(node.inputs[i]);
  }
  follower.nodes = {index};
  follower.step.kind = FusedStep::Kind::kBatchNorm;
  follower.step.epsilon = FloatOf(node, "epsilon", 1e-5F);
  follower.result = node.outputs[0];
  return follower;
}

std::optional<Follower> AddFollower(const Readers& readers, const Node& head, ValueId y,
                                    size_t index) {
  const Graph& graph = readers.graph();
  const Node& node = graph.nodes[index];
  if (node.inputs.size() != 2) return std::nullopt;
  const ValueId other = node.inputs[0] == y ? node.inputs[1] : node.inputs[0];
  if (!IsFloat32(graph, other)) return std::nullopt;
  // What the head reads must not be overwritten with its result.
  if (std::find(head.inputs.begin(), head.inputs.end(), other) != head.inputs.end()) {
    return std::nullopt;
  }
  const Shape& shape = graph.value(y).type.shape;
  Follower follower;
  follower.nodes = {index};
  follower.operands = {other};
  follower.result = node.outputs[0];
  if (graph.value(other).type.shape == shape && !IsInitializer(graph, other)) {
    follower.step.kind = FusedStep::Kind::kAdd;
  } else if (IsByChannel(graph, head, other, shape)) {
    follower.step.kind = FusedStep::Kind::kBias;
  } else {
    return std::nullopt;
  }
  return follower;
}

std::optional<Follower> OneReader(const Readers& readers, const Node& head, ValueId y,
                                  size_t index) {
  const Node& node = readers.graph().nodes[index];
  if (!HasOneOutput(node)) return std::nullopt;
  if (node.op_type == "BatchNormalization") return NormFollower(readers, head, y, index);
  if (node.op_type == "Add" || node.op_type == "Sum") {
    return AddFollower(readers, head, y, index);
  }
  std::optional<FusedStep> step = ActivationOf(readers.graph(), node);
  if (!step || node.inputs[0] != y) return std::nullopt;
  return Follower{
      .nodes = {index}, .step = *std::move(step), .operands = {}, .result = node.outputs[0]};
}

// The number that a Mul or Div by a constant multiplies `x` with.
std::optional<double> FactorOf(const Graph& graph, const Node& node, ValueId x) {
  if ((node.op_type != "Mul" && node.op_type != "Div") || node.inputs.size() != 2) {
    return std::nullopt;
  }
  const bool is_second = node.inputs[1] == x;
  if (node.op_type == "Div" && is_second) return std::nullopt;
  const std::optional<float> number = NumberOf(graph, node.inputs[is_second ? 0 : 1]);
  if (!number) return std::nullopt;
  return node.op_type == "Mul" ? double{*number} : 1 / double{*number};
}

// y has two readers: `gate`, the first of a chain that works on y alone, and a Mul of y with what
// the chain gives. Follows the chain as far as it is one of these:
//   HardSigmoid(y) | Sigmoid(y) | Clip(y + 3, 0, 6) [* 1/6]
class Gate {
 public:
  Gate(const Readers& readers, ValueId y) : readers_(readers), graph_(readers.graph()), y_(y) {}

  std::optional<Follower> Match(size_t gate, size_t product) {
    if (!TakeGate(gate)) return std::nullopt;
    // Perhaps a factor comes before the product.
    std::optional<size_t> next = readers_.Only(at_);
    if (next && *next != product && !TakeFactor(*next)) return std::nullopt;
    next = readers_.Only(at_);
    if (!next || *next != product || !HasOneOutput(graph_.nodes[product])) return std::nullopt;
    nodes_.push_back(product);
    at_ = graph_.nodes[product].outputs[0];
    if (step_.activation.empty()) {
      if (!IsSixth()) {
        next = readers_.Only(at_);
        if (!next || !TakeFactor(*next)) return std::nullopt;
      }
      if (!IsSixth()) return std::nullopt;
      step_ = ActivationStep("HardSwish");
    }
    std::sort(nodes_.begin(), nodes_.end());
    return Follower{.nodes = nodes_, .step = step_, .operands = {}, .result = at_};
  }

 private:
  bool IsSixth() const { return IsNear(static_cast<float>(factor_), 1.0 / 6); }

  bool TakeGate(size_t index) {
    const Node& node = graph_.nodes[index];
    if (!HasOneOutput(node)) return false;
    nodes_ = {index};
    at_ = node.outputs[0];
    if (node.op_type == "Sigmoid") {
      step_ = ActivationStep("Swish");
      return true;
    }
    if (node.op_type == "HardSigmoid") {
      step_ = ActivationStep("HardSwish");
      return IsNear(FloatOf(node, "alpha", 0.2F), 1.0 / 6) &&
             IsNear(FloatOf(node, "beta", 0.5F), 0.5);
    }
    if (node.op_type != "Add" || node.inputs.size() != 2) return false;
    const ValueId other = node.inputs[0] == y_ ? node.inputs[1] : node.inputs[0];
    const std::optional<float> shift = NumberOf(graph_, other);
    if (!shift || *shift != 3.0F || graph_.value(at_).type != graph_.value(y_).type) return false;
    const std::optional<size_t> clip = readers_.Only(at_);
    return clip && TakeClip(*clip);
  }

  bool TakeClip(size_t index) {
    const Node& node = graph_.nodes[index];
    if (node.op_type != "Clip" || !HasOneOutput(node)) return false;
    const std::optional<Bounds> bounds = BoundsOf(graph_, node);
    if (!bounds || bounds->low != 0.0F || bounds->high != 6.0F) return false;
    nodes_.push_back(index);
    at_ = node.outputs[0];
    return true;
  }

  bool TakeFactor(size_t index) {
    const Node& node = graph_.nodes[index];
    if (!step_.activation.empty() || factor_ != 1 || !HasOneOutput(node)) return false;
    const std::optional<double> factor = FactorOf(graph_, node, at_);
    if (!factor || graph_.value(node.outputs[0]).type != graph_.value(y_).type) return false;
    factor_ = *factor;
    nodes_.push_back(index);
    at_ = node.outputs[0];
    return true;
  }

  const Readers& readers_;
  const Graph& graph_;
  ValueId y_;
  ValueId at_ = kNoValue;
  std::vector<size_t> nodes_;
  FusedStep step_;
  double factor_ = 1;
};

bool IsProductWith(const Node& node, ValueId y) {
  return node.op_type == "Mul" && node.inputs.size() == 2 && node.inputs[0] != node.inputs[1] &&
         (node.inputs[0] == y || node.inputs[1] == y);
}

std::optional<Follower> TwoReaders(const Readers& readers, ValueId y) {
  const std::vector<size_t>& both = readers.Of(y);
  for (size_t i = 0; i < 2; ++i) {
    if (!IsProductWith(readers.graph().nodes[both[1 - i]], y)) continue;
    std::optional<Follower> follower = Gate(readers, y).Match(both[i], both[1 - i]);
    if (follower) return follower;
  }
  return std::nullopt;
}

}  // namespace

bool IsHead(const Graph& graph, const Node& node) {
  constexpr std::array<std::string_view, 4> kHeads = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  const bool is_known = std::find(kHeads.begin(), kHeads.end(), node.op_type) != kHeads.end();
  return is_known && HasOneOutput(node) && IsFloat32(graph, node.outputs[0]) &&
         graph.value(node.outputs[0]).type.shape.element_count() > 0;
}

std::optional<Follower> FollowerOf(const Readers& readers, const Node& head, ValueId y) {
  if (readers.IsGraphOutput(y)) return std::nullopt;
  std::optional<Follower> follower;
  if (const std::optional<size_t> only = readers.Only(y)) {
    follower = OneReader(readers, head, y, *only);
  } else if (readers.Of(y).size() == 2) {
    follower = TwoReaders(readers, y);
  }
  if (!follower) return std::nullopt;
  const Graph& graph = readers.graph();
  if (graph.value(follower->result).type != graph.value(y).type) return std::nullopt;
  return follower;
}

}  // namespace tinyprof
