#include "daemon/model/onnx_fold.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/base/checked_math.h"
#include "kernels/ops/make_kernel.h"
#include "kernels/ops/op.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {
namespace {

constexpr std::array<std::string_view, 14> kMovers = {
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Expand",   "Slice",
    "Concat",  "Split",   "Tile",    "Pad",       "Cast",      "Identity", "ConstantOfShape"};
// One node must not take what the others need.
constexpr int64_t kMaxFoldedFlops = 10'000'000;
// What a file of no size may cost: about a second of the reference kernels.
constexpr int64_t kBaseBytes = int64_t{64} << 20;
constexpr int64_t kBaseWork = 200'000'000;

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

// Elements read and written, and operations. A Shape reads none of its input's elements.
Result<int64_t> WorkOf(const NodeSignature& signature, const Cost& cost) {
  TINYPROF_ASSIGN_OR_RETURN(int64_t work, CheckedAdd(cost.flop_count(), cost.int_op_count));
  if (signature.node->op_type != "Shape") {
    for (const NodeSignature::Input& input : signature.inputs) {
      if (!input.present) continue;
      TINYPROF_ASSIGN_OR_RETURN(work, CheckedAdd(work, input.type.shape.element_count()));
    }
  }
  for (const TensorType& type : signature.outputs) {
    TINYPROF_ASSIGN_OR_RETURN(work, CheckedAdd(work, type.shape.element_count()));
  }
  return work;
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
  if (!known) return nullptr;
  // An empty vector may have no address, but its elements are known all the same.
  static constexpr std::byte kNoElements{};
  return value.fill.data->empty() ? &kNoElements : value.fill.data->data();
}

FoldBudget::FoldBudget(int64_t file_bytes)
    : bytes_left_(2 * file_bytes + kBaseBytes), work_left_(file_bytes + kBaseWork) {}

bool FoldBudget::Take(int64_t bytes, int64_t work) {
  if (bytes > bytes_left_ || work > work_left_) {
    NoteShort();
    return false;
  }
  bytes_left_ -= bytes;
  work_left_ -= work;
  return true;
}

std::vector<TensorData> Fold(const Graph& graph, const Node& node,
                             const std::vector<TensorType>& types, FoldBudget& budget) {
  if (!InputsAreKnown(graph, node) || !IsWorthFolding(graph, node, types)) return {};
  const Operator* op = FindOperator(node.op_type);
  NodeSignature signature = SignatureOf(graph, node, false);
  signature.outputs = types;
  const Result<Cost> cost = op->cost(signature);
  const Result<int64_t> work =
      cost ? WorkOf(signature, *cost) : tl::unexpected<Error>(cost.error());
  if (!work || cost->flop_count() > kMaxFoldedFlops) {
    budget.NoteShort();
    return {};
  }
  const Result<std::unique_ptr<Kernel>> kernel = MakeNaiveKernel(signature, {});
  if (!kernel) return {};
  int64_t bytes = (*kernel)->scratch_bytes();
  for (const TensorType& type : types) bytes += type.byte_size();
  if (!budget.Take(bytes, *work)) return {};
  return Evaluate(signature, **kernel);
}

}  // namespace tinyprof
