// A neural network as a list of nodes with the semantics of ONNX operators.
//
// A Graph is plain data: nodes are in execution order, values are referred to by index. It holds no
// weights of built-in models, only how to make them (Fill), so that a graph of any size is cheap to
// build, copy and analyse. Make one with GraphBuilder (graph_builder.h), which infers types as it
// goes. Not thread-safe to change; safe to read from many threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/quantization_facts.h"
#include "kernels/tensor/shape.h"

namespace tinyprof {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an omitted optional input

// An attribute of a node, as ONNX has them.
using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

// How the elements of an initializer come to be. Random fills depend only on the seed and the index
// of the element, so any part can be made by any thread and gives the same weights.
struct Fill {
  enum class Kind {
    kData,      // `data` holds the elements, row-major
    kConstant,  // every element is `value`
    kUniform,   // floats uniform in [-value, value)
    kIntegers,  // integers uniform in [0, value)
  };
  Kind kind = Kind::kConstant;
  double value = 0;
  uint64_t seed = 0;
  std::shared_ptr<const std::vector<std::byte>> data;

  static Fill Constant(double value) { return {.kind = Kind::kConstant, .value = value}; }
  static Fill Uniform(double bound, uint64_t seed) {
    return {.kind = Kind::kUniform, .value = bound, .seed = seed};
  }
  static Fill Integers(double limit, uint64_t seed) {
    return {.kind = Kind::kIntegers, .value = limit, .seed = seed};
  }
  static Fill Int64s(const std::vector<int64_t>& elements);
  static Fill Float32s(const std::vector<float>& elements);
};

// Writes elements [begin, end) of an initializer of `dtype` to `out` (which points at element
// `begin`). Deterministic on every machine.
void Materialize(const Fill& fill, DType dtype, int64_t begin, int64_t end, void* out);

struct Value {
  enum class Kind { kInput, kInitializer, kActivation };

  std::string name;
  Kind kind = Kind::kActivation;
  TensorType type;
  Fill fill;  // inputs: what a run feeds when nobody gives data; initializers: the weights
  // An initializer that a person trains (counted as parameters), as opposed to a constant like the
  // target shape of a Reshape or the running mean of a BatchNormalization.
  bool is_parameter = false;
};

struct Fusion;  // fusion.h

struct Node {
  std::string name;     // unique in the graph
  std::string path;     // the module it belongs to, e.g. "layer1.0.conv1"
  std::string op_type;  // an ONNX operator name, e.g. "Conv"
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;
  std::shared_ptr<const Fusion> fusion = nullptr;  // of a node that stands for several
};

struct Graph {
  std::string name;
  std::string source;  // "zoo", "layers" or "onnx"
  int64_t opset = 0;   // of an ONNX file; 0 for models that are built here
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::optional<QuantizationFacts> quantized;  // of a network that tinyprof has quantized

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
};

// What one operator knows of one of its nodes: attributes and the types around it.
// Lives no longer than the graph it was made from.
struct NodeSignature {
  struct Input {
    TensorType type;
    bool present = false;        // false: an omitted optional input
    bool is_weight = false;      // an initializer: its bytes are weight bytes
    const void* data = nullptr;  // the elements where they are known: initializers with kData while
                                 // types are inferred, every initializer when a kernel is made
  };

  const Node* node = nullptr;
  std::vector<Input> inputs;
  std::vector<TensorType> outputs;  // empty while they are being inferred

  bool has_input(size_t index) const { return index < inputs.size() && inputs[index].present; }
  const TensorType& input(size_t index) const { return inputs[index].type; }
  const TensorType& output(size_t index = 0) const { return outputs[index]; }

  int64_t Int(std::string_view name, int64_t fallback) const;
  float Float(std::string_view name, float fallback) const;
  std::string String(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> fallback) const;
  bool has_attribute(std::string_view name) const;
  // The elements of an int64 or int32 input that is known before the run, or nothing.
  std::optional<std::vector<int64_t>> ConstantInts(size_t index) const;
};

// The signature of `node`, with its outputs' types when `with_outputs`.
NodeSignature SignatureOf(const Graph& graph, const Node& node, bool with_outputs);

// Parameters of the whole graph: `listed` counts an initializer once for each node that uses it (as
// many tools do), `unique` counts it once; bytes are of the unique ones.
struct ParameterCount {
  int64_t listed = 0;
  int64_t unique = 0;
  int64_t unique_bytes = 0;
};
ParameterCount CountParameters(const Graph& graph);
// Parameters that `node` uses; of a fused one the sum over its parts.
int64_t CountParameters(const Graph& graph, const Node& node);

}  // namespace tinyprof
