#include "daemon/model/onnx_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "kernels/ops/convert.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

using Proto = onnx::AttributeProto;

template <class T>
TensorData Vector(DType dtype, const T* elements, size_t count, bool scalar) {
  auto bytes = std::make_shared<std::vector<std::byte>>(count * sizeof(T));
  if (count > 0) std::memcpy(bytes->data(), elements, bytes->size());
  const Shape shape = scalar ? Shape() : Shape{static_cast<int64_t>(count)};
  return {"", {dtype, shape}, std::move(bytes)};
}

tl::unexpected<Error> NotSupported(const onnx::NodeProto& node, const Proto& attribute) {
  return Fail(ErrorCode::kUnimplemented, "ATTRIBUTE_NOT_SUPPORTED",
              fmt::format("node '{}' ({}): attribute '{}' has a type that is not supported",
                          DisplayName(node), node.op_type(), attribute.name()));
}

// ONNX's own `value` of ConstantOfShape is a tensor of one element: an integer or a float, and
// "<name>_type" where it has another type than int64 or float32.
Status AddNumber(const onnx::NodeProto& node, const Proto& attribute, Attributes& attributes) {
  TINYPROF_ASSIGN_OR_RETURN(const TensorData tensor, TensorFromProto(attribute.t()));
  if (tensor.type.shape.element_count() != 1) return NotSupported(node, attribute);
  const DType dtype = tensor.type.dtype;
  const bool is_float = dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
                        dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  if (is_float) {
    float value = 0;
    FindConversion(dtype, DType::kFloat32)(tensor.bytes->data(), &value, 0, 1);
    attributes[attribute.name()] = value;
  } else {
    int64_t value = 0;
    FindConversion(dtype, DType::kInt64)(tensor.bytes->data(), &value, 0, 1);
    attributes[attribute.name()] = value;
  }
  if (dtype != DType::kFloat32 && dtype != DType::kInt64) {
    attributes[attribute.name() + "_type"] = int64_t{OnnxDataType(dtype)};
  }
  return {};
}

// Files of the first IR versions leave the type out: then the field that is set tells.
int TypeOf(const Proto& attribute) {
  if (attribute.type() != Proto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return Proto::FLOAT;
  if (attribute.has_i()) return Proto::INT;
  if (attribute.has_s()) return Proto::STRING;
  if (attribute.has_t()) return Proto::TENSOR;
  if (attribute.has_g()) return Proto::GRAPH;
  if (attribute.floats_size() > 0) return Proto::FLOATS;
  if (attribute.strings_size() > 0) return Proto::STRINGS;
  return Proto::INTS;
}

Result<Attribute> AttributeOf(const onnx::NodeProto& node, const Proto& attribute) {
  if (!attribute.ref_attr_name().empty()) return NotSupported(node, attribute);
  switch (TypeOf(attribute)) {
    case Proto::FLOAT:
      return Attribute(attribute.f());
    case Proto::INT:
      return Attribute(static_cast<int64_t>(attribute.i()));
    case Proto::STRING:
      return Attribute(attribute.s());
    case Proto::FLOATS:
      return Attribute(std::vector<float>(attribute.floats().begin(), attribute.floats().end()));
    case Proto::INTS:
      return Attribute(std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
    case Proto::STRINGS:
      return Attribute(fmt::format("{}", fmt::join(attribute.strings(), ",")));
    default:
      return NotSupported(node, attribute);
  }
}

}  // namespace

std::string QualifiedOp(const onnx::NodeProto& node) {
  if (node.domain().empty() || node.domain() == "ai.onnx") return node.op_type();
  return fmt::format("{}::{}", node.domain(), node.op_type());
}

std::string DisplayName(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name().substr(0, 200);
  return node.output_size() > 0 ? node.output(0).substr(0, 200) : std::string("(no name)");
}

bool HasNoOptionalOutput(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  return op == "Split" || op == "TopK" || op == "DynamicQuantizeLinear";
}

tl::unexpected<Error> BadNode(const onnx::NodeProto& node, std::string_view message) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX",
              fmt::format("node '{}' ({}): {}", DisplayName(node), node.op_type(), message));
}

Result<Attributes> AttributesOf(const onnx::NodeProto& node) {
  Attributes attributes;
  for (const Proto& attribute : node.attribute()) {
    if (TypeOf(attribute) == Proto::GRAPH) continue;
    const bool is_new = !attributes.contains(attribute.name());
    if (TypeOf(attribute) == Proto::TENSOR && attribute.ref_attr_name().empty()) {
      TINYPROF_RETURN_IF_ERROR(AddNumber(node, attribute, attributes));
    } else {
      TINYPROF_ASSIGN_OR_RETURN(attributes[attribute.name()], AttributeOf(node, attribute));
    }
    if (!is_new) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX",
                  fmt::format("node '{}' ({}) has attribute '{}' twice", DisplayName(node),
                              node.op_type(), attribute.name()));
    }
  }
  return attributes;
}

Result<TensorData> ConstantOf(const onnx::NodeProto& node) {
  for (const Proto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    if (name == "value") return TensorFromProto(attribute.t());
    if (name == "value_float") {
      const float value = attribute.f();
      return Vector(DType::kFloat32, &value, 1, true);
    }
    if (name == "value_int") {
      const auto value = static_cast<int64_t>(attribute.i());
      return Vector(DType::kInt64, &value, 1, true);
    }
    if (name == "value_floats") {
      return Vector(DType::kFloat32, attribute.floats().data(),
                    static_cast<size_t>(attribute.floats_size()), false);
    }
    if (name == "value_ints") {
      const std::vector<int64_t> ints(attribute.ints().begin(), attribute.ints().end());
      return Vector(DType::kInt64, ints.data(), ints.size(), false);
    }
    return NotSupported(node, attribute);
  }
  return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX",
              fmt::format("node '{}' (Constant) has no value", DisplayName(node)));
}

}  // namespace tinyprof
