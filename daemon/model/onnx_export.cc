#include "daemon/model/onnx_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/model/quantization_metadata.h"
#include "daemon/model/tensor_proto.h"
#include "kernels/graph/origins.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

constexpr int64_t kIrVersion = 8;
constexpr int64_t kLowestOpset = 17;
// Files of this opset and later ones keep their nodes as they are when they are read.
constexpr int64_t kLowestImportedOpset = 13;
constexpr int64_t kMaxMessageBytes = (int64_t{1} << 31) - 1;
constexpr int64_t kChunkElements = 1 << 18;

// The protobuf wire format: a field is a varint of its number and wire type, then its payload; 2 is
// the wire type of what has a length in front.
constexpr uint32_t kLengthDelimited = 2;
constexpr uint32_t Tag(uint32_t field) { return field << 3 | kLengthDelimited; }

std::string Varint(uint64_t value) {
  std::string bytes;
  while (value >= 0x80) {
    bytes.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string FieldHead(int field, int64_t byte_size) {
  return Varint(Tag(static_cast<uint32_t>(field))) + Varint(static_cast<uint64_t>(byte_size));
}

// The operators that came after opset 17.
int64_t OpsetOf(const Graph& graph) {
  if (graph.opset != 0) return graph.opset;
  static const std::map<std::string, int64_t, std::less<>> kSince = {
      {"Gelu", 20}, {"Attention", 23}, {"Swish", 24}};
  int64_t opset = kLowestOpset;
  for (const Node& node : graph.nodes) {
    const auto found = kSince.find(node.op_type);
    if (found != kSince.end()) opset = std::max(opset, found->second);
  }
  return opset;
}

void SetAttribute(const std::string& name, const Attribute& value, onnx::AttributeProto& proto) {
  proto.set_name(name);
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*integer);
  } else if (const auto* number = std::get_if<float>(&value)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(*text);
  } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&value)) {
    proto.set_type(onnx::AttributeProto::INTS);
    proto.mutable_ints()->Add(integers->begin(), integers->end());
  } else if (const auto* numbers = std::get_if<std::vector<float>>(&value)) {
    proto.set_type(onnx::AttributeProto::FLOATS);
    proto.mutable_floats()->Add(numbers->begin(), numbers->end());
  }
}

void SetNode(const Graph& graph, const Node& node, onnx::NodeProto& proto) {
  proto.set_name(node.name);
  proto.set_op_type(node.op_type);
  for (const ValueId id : node.inputs) {
    proto.add_input(id == kNoValue ? std::string() : graph.value(id).name);
  }
  for (const ValueId id : node.outputs) proto.add_output(graph.value(id).name);
  for (const auto& [name, value] : node.attributes) {
    if (name != kOriginsAttribute) SetAttribute(name, value, *proto.add_attribute());
  }
  AddOrigins(node, proto);
}

void SetValueInfo(const Value& value, onnx::ValueInfoProto& proto) {
  proto.set_name(value.name);
  auto& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(OnnxDataType(value.type.dtype));
  auto& shape = *tensor.mutable_shape();
  for (const int64_t dim : value.type.shape.dims()) shape.add_dim()->set_dim_value(dim);
}

// All of the GraphProto but its initializers.
std::string GraphWithoutWeights(const Graph& graph) {
  onnx::GraphProto proto;
  proto.set_name(graph.name);
  for (const Node& node : graph.nodes) SetNode(graph, node, *proto.add_node());
  for (const ValueId id : graph.inputs) SetValueInfo(graph.value(id), *proto.add_input());
  for (const ValueId id : graph.outputs) SetValueInfo(graph.value(id), *proto.add_output());
  return proto.SerializeAsString();
}

// All of a TensorProto up to the first byte of its elements.
std::string TensorHead(const Value& value) {
  onnx::TensorProto proto;
  proto.set_name(value.name);
  proto.set_data_type(OnnxDataType(value.type.dtype));
  for (const int64_t dim : value.type.shape.dims()) proto.add_dims(dim);
  return proto.SerializeAsString() +
         FieldHead(onnx::TensorProto::kRawDataFieldNumber, value.type.byte_size());
}

Status WriteElements(const Value& value, const ByteSink& sink) {
  const int64_t count = value.type.shape.element_count();
  const int64_t element_bytes = ByteSize(value.type.dtype);
  std::vector<char> chunk(static_cast<size_t>(std::min(count, kChunkElements) * element_bytes));
  for (int64_t begin = 0; begin < count; begin += kChunkElements) {
    const int64_t end = std::min(count, begin + kChunkElements);
    Materialize(value.fill, value.type.dtype, begin, end, chunk.data());
    TINYPROF_RETURN_IF_ERROR(
        sink({chunk.data(), static_cast<size_t>((end - begin) * element_bytes)}));
  }
  return {};
}

// The fields of the ModelProto before its graph.
std::string ModelHead(const Graph& graph) {
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("tinyprof");
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(OpsetOf(graph));
  if (graph.quantized) AddQuantization(*graph.quantized, model);
  return model.SerializeAsString();
}

struct Weight {
  const Value* value;
  std::string head;
  int64_t byte_size;  // of the TensorProto
};

std::vector<Weight> WeightsOf(const Graph& graph) {
  std::vector<Weight> weights;
  for (const Value& value : graph.values) {
    if (value.kind != Value::Kind::kInitializer) continue;
    std::string head = TensorHead(value);
    const int64_t byte_size = static_cast<int64_t>(head.size()) + value.type.byte_size();
    weights.push_back({&value, std::move(head), byte_size});
  }
  return weights;
}

// Reading changes the nodes of older files (onnx_forms.cc), and not all of them into those of their
// opset.
Status CheckExportable(const Graph& graph) {
  if (graph.opset != 0 && graph.opset < kLowestImportedOpset) {
    return Fail(ErrorCode::kUnimplemented, "OPSET_NOT_SUPPORTED",
                fmt::format("{} is of opset {}, and models of opset {} and later can be written",
                            graph.name, graph.opset, kLowestImportedOpset),
                {{"opset", std::to_string(graph.opset)}});
  }
  return {};
}

}  // namespace

Status ExportOnnx(const Graph& graph, const ByteSink& sink) {
  TINYPROF_RETURN_IF_ERROR(CheckExportable(graph));
  const std::vector<Weight> weights = WeightsOf(graph);
  const std::string nodes = GraphWithoutWeights(graph);
  auto graph_bytes = static_cast<int64_t>(nodes.size());
  for (const Weight& weight : weights) {
    const std::string head = FieldHead(onnx::GraphProto::kInitializerFieldNumber, weight.byte_size);
    graph_bytes += static_cast<int64_t>(head.size()) + weight.byte_size;
    if (graph_bytes > kMaxMessageBytes) {
      return Fail(
          ErrorCode::kResourceExhausted, "MODEL_TOO_LARGE",
          fmt::format("{} does not fit into one ONNX file, whose limit is 2 GiB", graph.name));
    }
  }
  TINYPROF_RETURN_IF_ERROR(sink(ModelHead(graph)));
  TINYPROF_RETURN_IF_ERROR(sink(FieldHead(onnx::ModelProto::kGraphFieldNumber, graph_bytes)));
  TINYPROF_RETURN_IF_ERROR(sink(nodes));
  for (const Weight& weight : weights) {
    TINYPROF_RETURN_IF_ERROR(
        sink(FieldHead(onnx::GraphProto::kInitializerFieldNumber, weight.byte_size)));
    TINYPROF_RETURN_IF_ERROR(sink(weight.head));
    TINYPROF_RETURN_IF_ERROR(WriteElements(*weight.value, sink));
  }
  return {};
}

}  // namespace tinyprof
