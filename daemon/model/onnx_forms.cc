// Operators that are read as others: forms of earlier opsets, and compositions of simpler ones.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/model/onnx_node.h"
#include "daemon/model/onnx_reader.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

int64_t IntOf(const Node& node, std::string_view name, int64_t fallback) {
  return NodeSignature{.node = &node, .inputs = {}, .outputs = {}}.Int(name, fallback);
}

bool HasInput(const Node& node, size_t index) {
  return index < node.inputs.size() && node.inputs[index] != kNoValue;
}

}  // namespace

const OnnxReader::Forms& OnnxReader::AllForms() {
  static const Forms forms = {
      {"Add", &OnnxReader::EmitBroadcast},
      {"Sub", &OnnxReader::EmitBroadcast},
      {"Mul", &OnnxReader::EmitBroadcast},
      {"Div", &OnnxReader::EmitBroadcast},
      {"And", &OnnxReader::EmitBroadcast},
      {"Or", &OnnxReader::EmitBroadcast},
      {"Xor", &OnnxReader::EmitBroadcast},
      {"Equal", &OnnxReader::EmitBroadcast},
      {"Greater", &OnnxReader::EmitBroadcast},
      {"Less", &OnnxReader::EmitBroadcast},
      {"PRelu", &OnnxReader::EmitPRelu},
      {"Pow", &OnnxReader::EmitPow},
      {"CastLike", &OnnxReader::EmitCastLike},
      {"ConstantOfShape", &OnnxReader::EmitConstantOfShape},
      {"BatchNormalization", &OnnxReader::EmitBatchNorm},
      {"Dropout", &OnnxReader::EmitDropout},
      {"Softmax", &OnnxReader::EmitSoftmax},
      {"LogSoftmax", &OnnxReader::EmitSoftmax},
      {"Hardmax", &OnnxReader::EmitSoftmax},
      {"Scatter", &OnnxReader::EmitScatter},
      {"Resize", &OnnxReader::EmitResize},
      {"Upsample", &OnnxReader::EmitResize},
      {"RoiAlign", &OnnxReader::EmitRoiAlign},
      {"MeanVarianceNormalization", &OnnxReader::EmitMeanVariance},
      {"Size", &OnnxReader::EmitSize},
      {"NegativeLogLikelihoodLoss", &OnnxReader::EmitLogLikelihood},
      {"SoftmaxCrossEntropyLoss", &OnnxReader::EmitCrossEntropy},
      {"RNN", &OnnxReader::EmitRecurrent},
      {"GRU", &OnnxReader::EmitRecurrent},
      {"LSTM", &OnnxReader::EmitRecurrent},
  };
  return forms;
}

Result<ValueId> OnnxReader::EmitOne(const onnx::NodeProto& source, const Node& base,
                                    std::string op_type, std::vector<ValueId> inputs,
                                    Attributes attributes) {
  Node node{.name = fmt::format("{}.{}", base.name, op_type),
            .path = {},
            .op_type = std::move(op_type),
            .inputs = std::move(inputs),
            .outputs = {},
            .attributes = std::move(attributes)};
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs, Emit(source, std::move(node), 1));
  return outputs[0];
}

Result<ValueId> OnnxReader::EmitReshape(const onnx::NodeProto& source, const Node& base,
                                        ValueId from, const std::vector<int64_t>& dims) {
  TensorData shape{
      "", {DType::kInt64, Shape{static_cast<int64_t>(dims.size())}}, Fill::Int64s(dims).data};
  return EmitOne(source, base, "Reshape", {from, AddInitializer(std::move(shape))}, {});
}

// Before opset 7 the second operand of an operator with broadcast = 1 lies at `axis` of the first.
Result<std::vector<ValueId>> OnnxReader::EmitBroadcast(const onnx::NodeProto& source, Node node,
                                                       size_t output_count) {
  if (graph_.opset < 7 && IntOf(node, "broadcast", 0) != 0 && node.attributes.contains("axis") &&
      HasInput(node, 0) && HasInput(node, 1)) {
    const auto rank = static_cast<int64_t>(graph_.value(node.inputs[0]).type.shape.rank());
    std::vector<int64_t> dims = graph_.value(node.inputs[1]).type.shape.dims();
    const int64_t given = IntOf(node, "axis", 0);
    const int64_t axis = given < 0 ? given + rank : given;
    const int64_t behind = rank - axis - static_cast<int64_t>(dims.size());
    if (axis < 0 || behind < 0) return BadNode(source, fmt::format("axis {} does not fit", given));
    dims.insert(dims.end(), static_cast<size_t>(behind), 1);
    TINYPROF_ASSIGN_OR_RETURN(node.inputs[1], EmitReshape(source, node, node.inputs[1], dims));
  }
  node.attributes.erase("axis");
  node.attributes.erase("broadcast");
  return Emit(source, std::move(node), output_count);
}

// Before opset 7 a list of slopes is one for each channel.
Result<std::vector<ValueId>> OnnxReader::EmitPRelu(const onnx::NodeProto& source, Node node,
                                                   size_t output_count) {
  if (graph_.opset < 7 && HasInput(node, 0) && HasInput(node, 1)) {
    const Shape& data = graph_.value(node.inputs[0]).type.shape;
    const Shape slopes = graph_.value(node.inputs[1]).type.shape;
    if (slopes.rank() == 1 && data.rank() > 2 && slopes[0] == data[1]) {
      std::vector<int64_t> dims(data.rank() - 1, 1);
      dims[0] = slopes[0];
      TINYPROF_ASSIGN_OR_RETURN(node.inputs[1], EmitReshape(source, node, node.inputs[1], dims));
    }
  }
  return Emit(source, std::move(node), output_count);
}

Result<ValueId> OnnxReader::EmitCast(const onnx::NodeProto& source, const Node& base, ValueId from,
                                     DType to) {
  if (graph_.value(from).type.dtype == to) return from;
  return EmitOne(source, base, "Cast", {from}, {{"to", int64_t{OnnxDataType(to)}}});
}

// From opset 12 on the exponent may have a type of its own; the result has the base's.
Result<std::vector<ValueId>> OnnxReader::EmitPow(const onnx::NodeProto& source, Node node,
                                                 size_t output_count) {
  if (!HasInput(node, 0) || !HasInput(node, 1)) {
    return Emit(source, std::move(node), output_count);
  }
  const DType base = graph_.value(node.inputs[0]).type.dtype;
  const DType exponent = graph_.value(node.inputs[1]).type.dtype;
  const auto is_integer = [](DType dtype) {
    return dtype == DType::kInt8 || dtype == DType::kUInt8 || dtype == DType::kInt32 ||
           dtype == DType::kInt64;
  };
  if (base == exponent || !is_integer(base) || is_integer(exponent)) {
    if (base != exponent) {
      TINYPROF_ASSIGN_OR_RETURN(node.inputs[1], EmitCast(source, node, node.inputs[1], base));
    }
    return EmitBroadcast(source, std::move(node), output_count);
  }
  TINYPROF_ASSIGN_OR_RETURN(const ValueId wide, EmitCast(source, node, node.inputs[0], exponent));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId power,
                            EmitOne(source, node, "Pow", {wide, node.inputs[1]}, {}));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId result, EmitCast(source, node, power, base));
  return std::vector<ValueId>{result};
}

Result<std::vector<ValueId>> OnnxReader::EmitCastLike(const onnx::NodeProto& source, Node node,
                                                      size_t output_count) {
  if (!HasInput(node, 0) || !HasInput(node, 1)) return BadNode(source, "2 inputs are wanted");
  node.attributes["to"] = int64_t{OnnxDataType(graph_.value(node.inputs[1]).type.dtype)};
  node.op_type = "Cast";
  node.inputs.resize(1);
  return Emit(source, std::move(node), output_count);
}

// Kernels fill with float32 or int64; another type is a Cast of that.
Result<std::vector<ValueId>> OnnxReader::EmitConstantOfShape(const onnx::NodeProto& source,
                                                             Node node, size_t output_count) {
  const std::optional<DType> dtype =
      DTypeFromOnnx(static_cast<int>(IntOf(node, "value_type", OnnxDataType(DType::kFloat32))));
  if (!node.attributes.contains("value_type") || !dtype) {
    return Emit(source, std::move(node), output_count);
  }
  node.attributes.erase("value_type");
  const Node base = node;
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<ValueId> filled, Emit(source, std::move(node), 1));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId cast, EmitCast(source, base, filled[0], *dtype));
  return std::vector<ValueId>{cast};
}

// Before opset 14 more outputs than one are those of training, whoever reads them.
Result<std::vector<ValueId>> OnnxReader::EmitBatchNorm(const onnx::NodeProto& source, Node node,
                                                       size_t output_count) {
  const auto named = std::count_if(source.output().begin(), source.output().end(),
                                   [](const std::string& name) { return !name.empty(); });
  if (graph_.opset < 14 && named > 1) node.attributes["training_mode"] = int64_t{1};
  return Emit(source, std::move(node), output_count);
}

// The ratio of a Dropout is for training; whether that goes on is checked by the operator. Before
// opset 10 the mask is of the data's type.
Result<std::vector<ValueId>> OnnxReader::EmitDropout(const onnx::NodeProto& source, Node node,
                                                     size_t output_count) {
  if (HasInput(node, 1)) node.inputs[1] = kNoValue;
  while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
  const Node base = node;
  TINYPROF_ASSIGN_OR_RETURN(std::vector<ValueId> outputs,
                            Emit(source, std::move(node), output_count));
  if (graph_.opset < 10 && outputs.size() > 1) {
    const DType dtype = graph_.value(outputs[0]).type.dtype;
    TINYPROF_ASSIGN_OR_RETURN(outputs[1], EmitCast(source, base, outputs[1], dtype));
  }
  return outputs;
}

// Before opset 13 these work on a matrix, with the axes from `axis` on as its columns.
Result<std::vector<ValueId>> OnnxReader::EmitSoftmax(const onnx::NodeProto& source, Node node,
                                                     size_t output_count) {
  if (graph_.opset >= 13) return Emit(source, std::move(node), output_count);
  if (!HasInput(node, 0)) return BadNode(source, "the input is missing");
  const Shape shape = graph_.value(node.inputs[0]).type.shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  int64_t axis = IntOf(node, "axis", 1);
  if (axis < 0) axis += rank;
  node.attributes["axis"] = int64_t{-1};
  if (axis == rank - 1) return Emit(source, std::move(node), 1);
  const Node base = node;
  TINYPROF_ASSIGN_OR_RETURN(node.inputs[0],
                            EmitOne(source, base, "Flatten", {node.inputs[0]}, {{"axis", axis}}));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<ValueId> flat, Emit(source, std::move(node), 1));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId result, EmitReshape(source, base, flat[0], shape.dims()));
  return std::vector<ValueId>{result};
}

Result<std::vector<ValueId>> OnnxReader::EmitScatter(const onnx::NodeProto& source, Node node,
                                                     size_t output_count) {
  node.op_type = "ScatterElements";
  return Emit(source, std::move(node), output_count);
}

// Before opset 16 places are not moved by half a pixel.
Result<std::vector<ValueId>> OnnxReader::EmitRoiAlign(const onnx::NodeProto& source, Node node,
                                                      size_t output_count) {
  if (graph_.opset < 16) {
    node.attributes["coordinate_transformation_mode"] = std::string("output_half_pixel");
  }
  return Emit(source, std::move(node), output_count);
}

// (x - mean) / (sqrt(variance) + 1e-9) over `axes`.
Result<std::vector<ValueId>> OnnxReader::EmitMeanVariance(const onnx::NodeProto& source, Node node,
                                                          size_t /*output_count*/) {
  if (!HasInput(node, 0)) return BadNode(source, "the input is missing");
  const ValueId x = node.inputs[0];
  const DType dtype = graph_.value(x).type.dtype;
  const std::vector<int64_t> axes =
      NodeSignature{.node = &node, .inputs = {}, .outputs = {}}.Ints("axes", {0, 2, 3});
  const Attributes over = {{"axes", axes}, {"keepdims", int64_t{1}}};
  TINYPROF_ASSIGN_OR_RETURN(const ValueId mean, EmitOne(source, node, "ReduceMean", {x}, over));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId centred, EmitOne(source, node, "Sub", {x, mean}, {}));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId square,
                            EmitOne(source, node, "Mul", {centred, centred}, {}));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId variance,
                            EmitOne(source, node, "ReduceMean", {square}, over));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId deviation, EmitOne(source, node, "Sqrt", {variance}, {}));
  TensorData epsilon{"", {DType::kFloat32, Shape()}, Fill::Float32s({1e-9F}).data};
  TINYPROF_ASSIGN_OR_RETURN(const ValueId small,
                            EmitCast(source, node, AddInitializer(std::move(epsilon)), dtype));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId divisor,
                            EmitOne(source, node, "Add", {deviation, small}, {}));
  TINYPROF_ASSIGN_OR_RETURN(const ValueId result,
                            EmitOne(source, node, "Div", {centred, divisor}, {}));
  return std::vector<ValueId>{result};
}

// With layout 1 the batch comes first: transposed around the operator, which has the steps first.
// Lengths of sequences that are all whole say nothing.
Result<std::vector<ValueId>> OnnxReader::EmitRecurrent(const onnx::NodeProto& source, Node node,
                                                       size_t output_count) {
  constexpr size_t kLengths = 4, kHidden = 5, kCell = 6;
  const bool batch_first = IntOf(node, "layout", 0) != 0;
  node.attributes.erase("layout");
  const Node base = node;
  const auto transpose = [&](ValueId id, std::vector<int64_t> perm) {
    return EmitOne(source, base, "Transpose", {id}, {{"perm", std::move(perm)}});
  };
  for (const size_t index : {size_t{0}, kHidden, kCell}) {
    if (!batch_first || !HasInput(node, index)) continue;
    TINYPROF_ASSIGN_OR_RETURN(node.inputs[index], transpose(node.inputs[index], {1, 0, 2}));
  }
  if (HasInput(node, kLengths) && HasInput(node, 0)) {
    const NodeSignature signature = SignatureOf(graph_, node, false);
    const Shape& x = signature.input(0).shape;
    const auto lengths = signature.ConstantInts(kLengths);
    const bool are_whole = lengths && x.rank() == 3 &&
                           std::all_of(lengths->begin(), lengths->end(),
                                       [&](int64_t length) { return length == x[0]; });
    if (are_whole) node.inputs[kLengths] = kNoValue;
  }
  TINYPROF_ASSIGN_OR_RETURN(std::vector<ValueId> outputs,
                            Emit(source, std::move(node), output_count));
  for (size_t i = 0; i < outputs.size() && batch_first; ++i) {
    TINYPROF_ASSIGN_OR_RETURN(outputs[i],
                              transpose(outputs[i], i == 0 ? std::vector<int64_t>{2, 0, 1, 3}
                                                           : std::vector<int64_t>{1, 0, 2}));
  }
  return outputs;
}

Result<std::vector<ValueId>> OnnxReader::EmitSize(const onnx::NodeProto& source, Node node,
                                                  size_t output_count) {
  if (node.inputs.size() != 1 || node.inputs[0] == kNoValue || output_count != 1) {
    return BadNode(source, "1 input and 1 output are wanted");
  }
  const int64_t count = graph_.value(node.inputs[0]).type.shape.element_count();
  return std::vector<ValueId>{AddInitializer(IntegerScalar(DType::kInt64, count))};
}

}  // namespace tinyprof
