#include "daemon/model/onnx_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "daemon/model/graph_marks.h"
#include "daemon/model/onnx_node.h"
#include "daemon/model/quantization_metadata.h"
#include "kernels/base/words.h"
#include "kernels/graph/prune.h"
#include "kernels/ops/op.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

// Stands for a value whose type cannot be known.
constexpr ValueId kPoison = -2;
constexpr size_t kMaxNodes = 65'536;

tl::unexpected<Error> BadOnnx(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX", std::move(message));
}

// An error of the node's rule, with the node's name in front.
Error NameNode(Error error, const onnx::NodeProto& node) {
  error.message =
      fmt::format("node '{}' ({}): {}", DisplayName(node), node.op_type(), error.message);
  error.metadata["node"] = DisplayName(node);
  return error;
}

Fill InputFill(const TensorType& type, size_t index) {
  switch (type.dtype) {
    case DType::kInt32:
    case DType::kInt64:
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kBool:
      return Fill::Integers(2, index);
    default:
      return Fill::Uniform(1, index);
  }
}

}  // namespace

OnnxReader::OnnxReader(std::string name, int64_t opset, int64_t byte_size) : budget_(byte_size) {
  graph_.name = std::move(name);
  graph_.source = "onnx";
  graph_.opset = opset;
}

Result<Graph> OnnxReader::Read(onnx::GraphProto& proto, const std::vector<BoundInput>& inputs) {
  CountUses(proto);
  Scope scope;
  for (const BoundInput& input : inputs) {
    if (input.value) {
      TensorData tensor = *input.value;
      tensor.name = input.name;
      TINYPROF_RETURN_IF_ERROR(Define(scope, input.name, AddInitializer(std::move(tensor))));
      continue;
    }
    graph_.values.push_back({.name = input.name,
                             .kind = Value::Kind::kInput,
                             .type = input.type,
                             .fill = InputFill(input.type, graph_.values.size())});
    graph_.inputs.push_back(static_cast<ValueId>(graph_.values.size() - 1));
    TINYPROF_RETURN_IF_ERROR(Define(scope, input.name, graph_.inputs.back()));
  }
  TINYPROF_RETURN_IF_ERROR(ReadBody(proto, scope));
  return Finish(proto, scope);
}

Result<Graph> OnnxReader::Finish(const onnx::GraphProto& proto, const Scope& scope) {
  if (!unknown_nodes_.empty()) {
    std::vector<std::string> lines;
    for (const auto& [op, nodes] : unknown_nodes_) {
      lines.push_back(fmt::format("{} ({})", op, fmt::join(nodes, ", ")));
    }
    return Fail(
        ErrorCode::kUnimplemented, "UNKNOWN_OPERATOR",
        fmt::format("the model has operators that are not known: {}", fmt::join(lines, "; ")),
        {{"operators", fmt::format("{}", fmt::join(lines, "; "))}});
  }
  if (proto.output_size() == 0) return BadOnnx("the graph has no outputs");
  for (const auto& output : proto.output()) {
    const auto found = scope.values.find(output.name());
    if (found == scope.values.end()) {
      return BadOnnx(fmt::format("nothing makes the output '{}'", output.name()));
    }
    graph_.outputs.push_back(found->second);
  }
  NameOutputs(proto);
  Prune(graph_);
  MarkParameters(graph_);
  BoundTokenInputs(graph_);
  return std::move(graph_);
}

void OnnxReader::NameOutputs(const onnx::GraphProto& proto) {
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const ValueId id = graph_.outputs[i];
    const std::string& name = proto.output(static_cast<int>(i)).name();
    if (graph_.value(id).name == name) continue;
    const bool is_free = graph_.value(id).kind != Value::Kind::kInput &&
                         std::count(graph_.outputs.begin(), graph_.outputs.end(), id) == 1;
    if (is_free) {
      graph_.values[static_cast<size_t>(id)].name = name;
      continue;
    }
    const std::string node_name = UniqueName(name);
    graph_.values.push_back({.name = name, .type = graph_.value(id).type, .fill = {}});
    graph_.outputs[i] = static_cast<ValueId>(graph_.values.size() - 1);
    graph_.nodes.push_back({.name = node_name,
                            .path = node_name,
                            .op_type = "Identity",
                            .inputs = {id},
                            .outputs = {graph_.outputs[i]},
                            .attributes = {}});
  }
}

void OnnxReader::CountUses(const onnx::GraphProto& proto) {
  for (const auto& output : proto.output()) used_names_.insert(output.name());
  for (const auto& node : proto.node()) {
    for (const std::string& input : node.input()) used_names_.insert(input);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) CountUses(attribute.g());
    }
  }
}

Status OnnxReader::ReadBody(onnx::GraphProto& proto, Scope& scope) {
  TINYPROF_RETURN_IF_ERROR(ReadInitializers(proto, scope));
  return ReadNodes(proto, scope);
}

Status OnnxReader::ReadInitializers(onnx::GraphProto& proto, Scope& scope) {
  if (proto.sparse_initializer_size() > 0) {
    return Fail(ErrorCode::kUnimplemented, "SPARSE_DATA", "the model has sparse initializers");
  }
  for (auto& initializer : *proto.mutable_initializer()) {
    TINYPROF_ASSIGN_OR_RETURN(TensorData tensor, TensorFromProto(initializer));
    const std::string name = initializer.name();
    // The file's copy would double the memory of every weight.
    if (keeping_ == 0) {
      initializer.Clear();
      initializer.set_name(name);
    }
    TINYPROF_RETURN_IF_ERROR(Define(scope, name, AddInitializer(std::move(tensor))));
  }
  return {};
}

Status OnnxReader::ReadNodes(onnx::GraphProto& proto, Scope& scope) {
  for (auto& node : *proto.mutable_node()) TINYPROF_RETURN_IF_ERROR(ReadNode(node, scope));
  return {};
}

Status OnnxReader::ReadNode(onnx::NodeProto& node, Scope& scope) {
  if (++nodes_read_ > kMaxNodes) {
    return Fail(ErrorCode::kResourceExhausted, "MODEL_TOO_LARGE",
                fmt::format("the model has more than {} nodes, loops unrolled", kMaxNodes));
  }
  const std::string op = QualifiedOp(node);
  if (op == "Constant") return ReadConstant(node, scope);
  const bool is_control_flow = op == "If" || op == "Loop" || op == "Scan";
  const bool known = is_control_flow || AllForms().contains(op) || FindOperator(op) != nullptr;
  if (!known) {
    unknown_nodes_[op].push_back(DisplayName(node));
    Poison(node, scope);
    return {};
  }
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<ValueId> inputs, Resolve(node, scope));
  if (std::find(inputs.begin(), inputs.end(), kPoison) != inputs.end()) {
    Poison(node, scope);
    return {};
  }
  if (op == "If") return ReadIf(node, scope);
  if (op == "Loop") return ReadLoop(node, scope);
  if (op == "Scan") return ReadScan(node, scope);
  return ReadOperator(node, scope);
}

void OnnxReader::Poison(const onnx::NodeProto& node, Scope& scope) {
  for (const std::string& name : node.output()) {
    if (!name.empty()) scope.values.emplace(name, kPoison);
  }
}

Status OnnxReader::ReadConstant(const onnx::NodeProto& node, Scope& scope) {
  if (node.output_size() != 1) {
    return BadOnnx(fmt::format("node '{}' (Constant) has {}, wanted 1", DisplayName(node),
                               Counted(node.output_size(), "output")));
  }
  TINYPROF_ASSIGN_OR_RETURN(TensorData tensor, ConstantOf(node));
  tensor.name = node.output(0);
  return Define(scope, node.output(0), AddInitializer(std::move(tensor)));
}

Status OnnxReader::ReadIf(onnx::NodeProto& node, Scope& scope) {
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<ValueId> inputs, Resolve(node, scope));
  if (inputs.size() != 1 || inputs[0] == kNoValue) {
    return BadOnnx(fmt::format("node '{}' (If) has {}, wanted 1", DisplayName(node),
                               Counted(static_cast<int64_t>(inputs.size()), "input")));
  }
  const std::byte* condition = KnownData(graph_, inputs[0]);
  const TensorType& type = graph_.value(inputs[0]).type;
  if (condition == nullptr) {
    return Fail(ErrorCode::kUnimplemented, "CONTROL_FLOW",
                fmt::format("node '{}' (If): its branch depends on the data of the run{}",
                            DisplayName(node), ScalarInputs()),
                {{"node", DisplayName(node)}});
  }
  if (type.dtype != DType::kBool || type.shape.element_count() != 1) {
    return BadOnnx(
        fmt::format("node '{}' (If): the condition is no single bool", DisplayName(node)));
  }
  const char* wanted = *condition != std::byte{0} ? "then_branch" : "else_branch";
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.name() != wanted || !attribute.has_g()) continue;
    Scope branch;
    branch.parent = &scope;
    TINYPROF_RETURN_IF_ERROR(ReadBody(*attribute.mutable_g(), branch));
    if (attribute.g().output_size() != node.output_size()) break;
    for (int i = 0; i < node.output_size(); ++i) {
      const std::optional<ValueId> value = Find(branch, attribute.g().output(i).name());
      if (!value) {
        return BadOnnx(fmt::format("node '{}' (If): nothing makes the output '{}' of its {}",
                                   DisplayName(node), attribute.g().output(i).name(), wanted));
      }
      TINYPROF_RETURN_IF_ERROR(Define(scope, node.output(i), *value));
    }
    return {};
  }
  return BadOnnx(fmt::format("node '{}' (If) has no {} with {}", DisplayName(node), wanted,
                             Counted(node.output_size(), "output")));
}

std::string OnnxReader::ScalarInputs() const {
  std::vector<std::string> flags;
  for (const ValueId id : graph_.inputs) {
    const Value& input = graph_.value(id);
    const bool integer = input.type.dtype == DType::kInt64 || input.type.dtype == DType::kInt32;
    if (integer && input.type.shape.rank() == 0) {
      flags.push_back(fmt::format("--input {}=NUMBER", input.name));
    }
  }
  return flags.empty() ? std::string() : fmt::format("; pass {}", fmt::join(flags, " "));
}

Status OnnxReader::ReadOperator(const onnx::NodeProto& proto, Scope& scope) {
  if (proto.output_size() == 0) {
    return BadNode(proto, "it has no outputs");
  }
  TINYPROF_ASSIGN_OR_RETURN(std::vector<ValueId> inputs, Resolve(proto, scope));
  TINYPROF_ASSIGN_OR_RETURN(Attributes attributes, AttributesOf(proto));
  Node node{.name = proto.name().empty() ? proto.op_type() : proto.name(),
            .path = {},
            .op_type = proto.op_type(),
            .inputs = std::move(inputs),
            .outputs = {},
            .attributes = std::move(attributes)};
  ReadOrigins(proto, node);
  const auto form = AllForms().find(QualifiedOp(proto));
  const Form emit = form == AllForms().end() ? &OnnxReader::Emit : form->second;
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs,
                            (this->*emit)(proto, std::move(node), UsedOutputs(proto)));
  // Some forms make values that the node of the file does not name.
  const size_t named_count = std::min(outputs.size(), static_cast<size_t>(proto.output_size()));
  for (size_t i = 0; i < named_count; ++i) {
    const std::string& name = proto.output(static_cast<int>(i));
    if (!name.empty()) TINYPROF_RETURN_IF_ERROR(Define(scope, name, outputs[i]));
  }
  return {};
}

size_t OnnxReader::UsedOutputs(const onnx::NodeProto& node) const {
  int count = node.output_size();
  if (HasNoOptionalOutput(node)) return static_cast<size_t>(count);
  while (count > 1 && !used_names_.contains(node.output(count - 1))) --count;
  return static_cast<size_t>(count);
}

Result<std::vector<ValueId>> OnnxReader::Emit(const onnx::NodeProto& source, Node node,
                                              size_t output_count) {
  Result<std::vector<TensorType>> types =
      InferTypes(SignatureOf(graph_, node, false), output_count);
  if (!types) {
    Error error = NameNode(std::move(types).error(), source);
    if (budget_.was_short()) {
      error.message += "; not all constants were worked out, because that takes too much work";
    }
    return tl::unexpected<Error>(std::move(error));
  }
  std::vector<TensorData> folded = Fold(graph_, node, *types, budget_);
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < output_count; ++i) {
    const bool named = static_cast<int>(i) < source.output_size();
    const std::string name = named ? source.output(static_cast<int>(i)) : std::string();
    if (!folded.empty()) {
      folded[i].name = name;
      outputs.push_back(AddInitializer(std::move(folded[i])));
      continue;
    }
    graph_.values.push_back({.name = name, .type = std::move((*types)[i]), .fill = {}});
    outputs.push_back(static_cast<ValueId>(graph_.values.size() - 1));
  }
  if (!folded.empty()) return outputs;
  node.name = UniqueName(std::move(node.name));
  node.path = node.name;
  node.outputs = outputs;
  graph_.nodes.push_back(std::move(node));
  return outputs;
}

Result<std::vector<ValueId>> OnnxReader::Resolve(const onnx::NodeProto& node,
                                                 const Scope& scope) const {
  std::vector<ValueId> ids;
  for (const std::string& name : node.input()) {
    if (name.empty()) {
      ids.push_back(kNoValue);
      continue;
    }
    const std::optional<ValueId> value = Find(scope, name);
    if (!value) {
      return BadOnnx(fmt::format("node '{}' ({}) reads '{}', which nothing before it makes",
                                 DisplayName(node), node.op_type(), name.substr(0, 200)));
    }
    ids.push_back(*value);
  }
  while (!ids.empty() && ids.back() == kNoValue) ids.pop_back();
  return ids;
}

std::optional<ValueId> OnnxReader::Find(const Scope& scope, const std::string& name) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    const auto found = at->values.find(name);
    if (found != at->values.end()) return found->second;
  }
  return std::nullopt;
}

Status OnnxReader::Define(Scope& scope, const std::string& name, ValueId id) const {
  if (scope.values.emplace(name, id).second) return {};
  return BadOnnx(fmt::format("'{}' is made twice", name.substr(0, 200)));
}

ValueId OnnxReader::AddInitializer(TensorData tensor) {
  Fill fill{.kind = Fill::Kind::kData, .data = std::move(tensor.bytes)};
  graph_.values.push_back({.name = std::move(tensor.name),
                           .kind = Value::Kind::kInitializer,
                           .type = std::move(tensor.type),
                           .fill = std::move(fill)});
  return static_cast<ValueId>(graph_.values.size() - 1);
}

std::string OnnxReader::UniqueName(std::string wanted) {
  const int seen = node_names_[wanted]++;
  return seen == 0 ? wanted : UniqueName(fmt::format("{}_{}", wanted, seen));
}

}  // namespace tinyprof
