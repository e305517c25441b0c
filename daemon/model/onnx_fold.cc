#include "daemon/model/onnx_fold.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/ops/op.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {
namespace {

constexpr std::array<std::string_view, 14> kMovers = {
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Expand",   "Slice",
    "Concat",  "Split",   "Tile",    "Pad",       "Cast",      "Identity", "ConstantOfShape"};
constexpr int64_t kMaxFoldedFlops = 10'000'000;

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

bool InputsAreKnown(const Graph& graph, const Node& node) {
  if (node.op_type == "Shape") return true;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return id == kNoValue || KnownData(graph, id) != nullptr; });
}

bool IsWorthFolding(const Graph& graph, const Node& node, const std::vector<TensorType>& types) {
  if (std::none_of(types.begin(), types.end(),
                   [](const TensorType& type) { return IsFloating(type.dtype); })) {
    return true;
  }
  if (std::find(kMovers.begin(), kMovers.end(), node.op_type) != kMovers.end()) return true;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id == kNoValue || graph.value(id).type.shape.element_count() <= 1;
  });
}

std::vector<TensorData> Evaluate(const NodeSignature& signature, const Kernel& kernel) {
  std::vector<ConstTensorView> inputs;
  for (const NodeSignature::Input& input : signature.inputs) {
    inputs.push_back({input.type, input.present ? input.data : nullptr});
  }
  std::vector<std::shared_ptr<std::vector<std::byte>>> storage;
  std::vector<TensorView> outputs;
  for (const TensorType& type : signature.outputs) {
    const auto byte_size = static_cast<size_t>(type.byte_size());
    storage.push_back(std::make_shared<std::vector<std::byte>>(byte_size));
    outputs.push_back({type, storage.back()->data()});
  }
  Result<Buffer> scratch = Buffer::Create(kernel.scratch_bytes());
  if (!scratch) return {};
  kernel.Run({.inputs = inputs,
              .outputs = outputs,
              .scratch = {scratch->data(), static_cast<size_t>(scratch->byte_size())}});
  std::vector<TensorData> results;
  for (size_t i = 0; i < storage.size(); ++i) {
    results.push_back({"", signature.outputs[i], std::move(storage[i])});
  }
  return results;
}

}  // namespace

const std::byte* KnownData(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  const bool known =
      value.kind == Value::Kind::kInitializer && value.fill.kind == Fill::Kind::kData;
  return known ? value.fill.data->data() : nullptr;
}

bool FoldBudget::Take(int64_t bytes) {
  if (bytes > bytes_left_) return false;
  bytes_left_ -= bytes;
  return true;
}

std::vector<TensorData> Fold(const Graph& graph, const Node& node,
                             const std::vector<TensorType>& types, FoldBudget& budget) {
  if (!InputsAreKnown(graph, node) || !IsWorthFolding(graph, node, types)) return {};
  const Operator* op = FindOperator(node.op_type);
  NodeSignature signature = SignatureOf(graph, node, false);
  signature.outputs = types;
  const Result<Cost> cost = op->cost(signature);
  if (!cost || cost->flop_count() > kMaxFoldedFlops) return {};
  const Result<std::unique_ptr<Kernel>> kernel = op->reference(signature, {});
  if (!kernel) return {};
  int64_t bytes = (*kernel)->scratch_bytes();
  for (const TensorType& type : types) bytes += type.byte_size();
  if (!budget.Take(bytes)) return {};
  return Evaluate(signature, **kernel);
}

}  // namespace tinyprof
