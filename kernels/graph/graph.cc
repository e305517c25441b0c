#include "kernels/graph/graph.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "kernels/base/check.h"
#include "kernels/graph/fusion.h"

namespace tinyprof {
namespace {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection that makes a counter random.
uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

double UnitInterval(uint64_t bits) { return static_cast<double>(bits >> 40) * 0x1.0p-24; }

template <class T>
void FillElements(const Fill& fill, int64_t begin, int64_t end, T* out) {
  for (int64_t i = begin; i < end; ++i) {
    const uint64_t bits = Mix(fill.seed ^ Mix(static_cast<uint64_t>(i)));
    switch (fill.kind) {
      case Fill::Kind::kData:
        break;
      case Fill::Kind::kConstant:
        out[i - begin] = static_cast<T>(fill.value);
        break;
      case Fill::Kind::kUniform:
        out[i - begin] = static_cast<T>((2 * UnitInterval(bits) - 1) * fill.value);
        break;
      case Fill::Kind::kIntegers:
        out[i - begin] = static_cast<T>(UnitInterval(bits) * fill.value);
        break;
    }
  }
}

template <class T>
Fill DataFill(const std::vector<T>& elements) {
  auto bytes = std::make_shared<std::vector<std::byte>>(elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(bytes->data(), elements.data(), bytes->size());
  return {.kind = Fill::Kind::kData, .data = std::move(bytes)};
}

template <class T>
T AttributeOr(const Node& node, std::string_view name, T fallback) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return fallback;
  const T* value = std::get_if<T>(&found->second);
  return value ? *value : fallback;
}

}  // namespace

Fill Fill::Int64s(const std::vector<int64_t>& elements) { return DataFill(elements); }
Fill Fill::Float32s(const std::vector<float>& elements) { return DataFill(elements); }

void Materialize(const Fill& fill, DType dtype, int64_t begin, int64_t end, void* out) {
  if (fill.kind == Fill::Kind::kData) {
    const auto size = static_cast<size_t>(ByteSize(dtype));
    TINYPROF_CHECK(fill.data && fill.data->size() >= static_cast<size_t>(end) * size);
    std::copy_n(fill.data->data() + static_cast<size_t>(begin) * size,
                static_cast<size_t>(end - begin) * size, static_cast<std::byte*>(out));
    return;
  }
  switch (dtype) {
    case DType::kFloat32:
      return FillElements(fill, begin, end, static_cast<float*>(out));
    case DType::kFloat64:
      return FillElements(fill, begin, end, static_cast<double*>(out));
    case DType::kInt8:
      return FillElements(fill, begin, end, static_cast<int8_t*>(out));
    case DType::kUInt8:
      return FillElements(fill, begin, end, static_cast<uint8_t*>(out));
    case DType::kInt32:
      return FillElements(fill, begin, end, static_cast<int32_t*>(out));
    case DType::kInt64:
      return FillElements(fill, begin, end, static_cast<int64_t*>(out));
    case DType::kBool:
      return FillElements(fill, begin, end, static_cast<uint8_t*>(out));
    case DType::kFloat16:
    case DType::kBFloat16:
      // Every bit pattern below 0x3C00 is a finite value of either type.
      return FillElements(Fill::Integers(0x3C00, fill.seed), begin, end,
                          static_cast<uint16_t*>(out));
  }
}

int64_t NodeSignature::Int(std::string_view name, int64_t fallback) const {
  return AttributeOr<int64_t>(*node, name, fallback);
}
float NodeSignature::Float(std::string_view name, float fallback) const {
  return AttributeOr<float>(*node, name, fallback);
}
std::string NodeSignature::String(std::string_view name, std::string_view fallback) const {
  return AttributeOr<std::string>(*node, name, std::string(fallback));
}
std::vector<int64_t> NodeSignature::Ints(std::string_view name,
                                         std::vector<int64_t> fallback) const {
  return AttributeOr<std::vector<int64_t>>(*node, name, std::move(fallback));
}
bool NodeSignature::has_attribute(std::string_view name) const {
  return node->attributes.find(name) != node->attributes.end();
}

std::optional<std::vector<int64_t>> NodeSignature::ConstantInts(size_t index) const {
  if (!has_input(index) || inputs[index].data == nullptr) return std::nullopt;
  const TensorType& type = inputs[index].type;
  std::vector<int64_t> elements(static_cast<size_t>(type.shape.element_count()));
  for (size_t i = 0; i < elements.size(); ++i) {
    if (type.dtype == DType::kInt64) {
      elements[i] = static_cast<const int64_t*>(inputs[index].data)[i];
    } else if (type.dtype == DType::kInt32) {
      elements[i] = static_cast<const int32_t*>(inputs[index].data)[i];
    } else {
      return std::nullopt;
    }
  }
  return elements;
}

NodeSignature SignatureOf(const Graph& graph, const Node& node, bool with_outputs) {
  NodeSignature signature;
  signature.node = &node;
  for (const ValueId id : node.inputs) {
    NodeSignature::Input input;
    if (id != kNoValue) {
      const Value& value = graph.value(id);
      input.type = value.type;
      input.present = true;
      input.is_weight = value.kind == Value::Kind::kInitializer;
      if (input.is_weight && value.fill.kind == Fill::Kind::kData) {
        input.data = value.fill.data->data();
      }
    }
    signature.inputs.push_back(std::move(input));
  }
  if (with_outputs) {
    for (const ValueId id : node.outputs) {
      signature.outputs.push_back(id == kNoValue ? TensorType{} : graph.value(id).type);
    }
  }
  return signature;
}

int64_t CountParameters(const Graph& graph, const Node& node) {
  int64_t count = 0;
  if (node.fusion != nullptr) {
    for (const FusedPart& part : node.fusion->parts) count += CountParameters(graph, part.node);
    return count;
  }
  for (const ValueId id : std::set<ValueId>(node.inputs.begin(), node.inputs.end())) {
    if (id != kNoValue && graph.value(id).is_parameter) {
      count += graph.value(id).type.shape.element_count();
    }
  }
  return count;
}

ParameterCount CountParameters(const Graph& graph) {
  ParameterCount count;
  for (const Node& node : graph.nodes) count.listed += CountParameters(graph, node);
  for (const Value& value : graph.values) {
    if (!value.is_parameter) continue;
    count.unique += value.type.shape.element_count();
    count.unique_bytes += value.type.byte_size();
  }
  return count;
}

}  // namespace tinyprof
