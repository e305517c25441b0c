#include "kernels/graph/graph_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "kernels/ops/op.h"

namespace tinyprof {

GraphBuilder::GraphBuilder(std::string name, std::string source, uint64_t seed) : seed_(seed) {
  graph_.name = std::move(name);
  graph_.source = std::move(source);
}

ValueId GraphBuilder::AddValue(Value value) {
  if (!ok()) return kNoValue;
  graph_.values.push_back(std::move(value));
  return static_cast<ValueId>(graph_.values.size() - 1);
}

ValueId GraphBuilder::Input(std::string name, TensorType type, Fill fill) {
  fill.seed ^= seed_;
  const ValueId id = AddValue({.name = std::move(name),
                               .kind = Value::Kind::kInput,
                               .type = std::move(type),
                               .fill = std::move(fill)});
  if (id != kNoValue) graph_.inputs.push_back(id);
  return id;
}

ValueId GraphBuilder::Parameter(std::string_view name, TensorType type, Fill fill) {
  fill.seed ^= seed_ * 0x9E3779B97F4A7C15ULL + graph_.values.size();
  return AddValue({.name = Scoped(name),
                   .kind = Value::Kind::kInitializer,
                   .type = std::move(type),
                   .fill = std::move(fill),
                   .is_parameter = true});
}

ValueId GraphBuilder::Weight(std::string_view name, Shape shape, double bound) {
  return Parameter(name, {DType::kFloat32, std::move(shape)}, Fill::Uniform(bound, 0));
}

ValueId GraphBuilder::Constant(std::string_view name, TensorType type, Fill fill) {
  return AddValue({.name = Scoped(name),
                   .kind = Value::Kind::kInitializer,
                   .type = std::move(type),
                   .fill = std::move(fill)});
}

ValueId GraphBuilder::ConstantInts(std::string_view name, const std::vector<int64_t>& elements) {
  return Constant(name, {DType::kInt64, Shape{static_cast<int64_t>(elements.size())}},
                  Fill::Int64s(elements));
}

ValueId GraphBuilder::Op(std::string_view op_type, std::vector<ValueId> inputs,
                         Attributes attributes, std::string_view name) {
  const std::vector<ValueId> outputs =
      MultiOp(op_type, std::move(inputs), 1, std::move(attributes), name);
  return outputs.empty() ? kNoValue : outputs[0];
}

std::vector<ValueId> GraphBuilder::MultiOp(std::string_view op_type, std::vector<ValueId> inputs,
                                           size_t output_count, Attributes attributes,
                                           std::string_view name) {
  if (!ok()) return std::vector<ValueId>(output_count, kNoValue);
  Node node;
  node.op_type = op_type;
  node.path = name.empty() && !scopes_.empty() ? fmt::format("{}", fmt::join(scopes_, "."))
                                               : Scoped(name.empty() ? op_type : name);
  node.name = UniqueNodeName(node.path);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);

  Result<std::vector<TensorType>> types =
      InferTypes(SignatureOf(graph_, node, false), output_count);
  if (!types) {
    Error error = std::move(types).error();
    error.message = fmt::format("layer {} ({}): {}", node.name, node.op_type, error.message);
    error.metadata["layer"] = node.name;
    SetError(std::move(error));
    return std::vector<ValueId>(output_count, kNoValue);
  }
  for (size_t i = 0; i < output_count; ++i) {
    const std::string suffix = i == 0 ? "" : fmt::format(":{}", i);
    node.outputs.push_back(
        AddValue({.name = node.name + suffix, .type = std::move((*types)[i]), .fill = {}}));
  }
  graph_.nodes.push_back(node);
  return node.outputs;
}

void GraphBuilder::PushScope(std::string_view scope) { scopes_.emplace_back(scope); }
void GraphBuilder::PopScope() { scopes_.pop_back(); }

const TensorType& GraphBuilder::type(ValueId id) const {
  static const TensorType kNothing;
  return id == kNoValue ? kNothing : graph_.value(id).type;
}

void GraphBuilder::SetError(Error error) {
  if (ok()) error_ = std::move(error);
}

std::string GraphBuilder::Scoped(std::string_view name) const {
  if (scopes_.empty()) return std::string(name);
  return fmt::format("{}.{}", fmt::join(scopes_, "."), name);
}

std::string GraphBuilder::UniqueNodeName(std::string wanted) {
  const int seen = node_names_[wanted]++;
  if (seen == 0) return wanted;
  return UniqueNodeName(fmt::format("{}_{}", wanted, seen));
}

Result<Graph> GraphBuilder::Finish(const std::vector<ValueId>& outputs) && {
  if (error_) return tl::unexpected<Error>(std::move(*error_));
  graph_.outputs = outputs;
  return std::move(graph_);
}

}  // namespace tinyprof
