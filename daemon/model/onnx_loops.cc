// Loop and Scan, unrolled: how often they run has to be known at import. Each iteration's nodes are
// nodes of the graph, so that they are counted as often as they run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "daemon/model/onnx_node.h"
#include "daemon/model/onnx_reader.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

// Of all loops of a model together: a small file must not ask for much work.
constexpr int64_t kMaxIterations = 10'000;

tl::unexpected<Error> BadLoop(const onnx::NodeProto& node, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX",
              fmt::format("node '{}' ({}): {}", DisplayName(node), node.op_type(), what));
}

tl::unexpected<Error> NotKnown(const onnx::NodeProto& node, std::string_view what) {
  return Fail(ErrorCode::kUnimplemented, "CONTROL_FLOW",
              fmt::format("node '{}' ({}): {}", DisplayName(node), node.op_type(), what),
              {{"node", DisplayName(node)}});
}

onnx::GraphProto* BodyOf(onnx::NodeProto& node) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.name() == "body" && attribute.has_g()) return attribute.mutable_g();
  }
  return nullptr;
}

}  // namespace

Status OnnxReader::CountIteration(const onnx::NodeProto& node) {
  if (++iterations_ <= kMaxIterations) return {};
  return NotKnown(
      node, fmt::format("loops run more than {} times, too often to be unrolled", kMaxIterations));
}

// The values of a loop while it is unrolled.
struct OnnxReader::Unrolled {
  std::vector<ValueId> state;
  std::vector<std::vector<ValueId>> stacks;  // by scan output: one value for each iteration
};

Result<std::vector<ValueId>> OnnxReader::ReadIteration(onnx::NodeProto& node,
                                                       onnx::GraphProto& body,
                                                       const Scope& constants,
                                                       const std::vector<ValueId>& inputs) {
  Scope scope;
  scope.parent = &constants;
  for (int i = 0; i < body.input_size(); ++i) {
    TINYPROF_RETURN_IF_ERROR(Define(scope, body.input(i).name(), inputs[static_cast<size_t>(i)]));
  }
  TINYPROF_RETURN_IF_ERROR(ReadNodes(body, scope));
  std::vector<ValueId> outputs;
  for (const auto& output : body.output()) {
    const std::optional<ValueId> value = Find(scope, output.name());
    if (!value) {
      return BadLoop(node, fmt::format("nothing makes the output '{}' of its body", output.name()));
    }
    outputs.push_back(*value);
  }
  return outputs;
}

// Joins the values of all iterations along a new axis.
Result<ValueId> OnnxReader::EmitStack(const onnx::NodeProto& node, std::vector<ValueId> values,
                                      int64_t axis) {
  if (values.empty()) {
    return NotKnown(node, "it runs no iteration, so that the shape of its output is not known");
  }
  Node base{.name = node.name().empty() ? node.op_type() : node.name()};
  for (ValueId& value : values) {
    if (value < 0) return value;
    TINYPROF_ASSIGN_OR_RETURN(
        value, EmitOne(node, base, "Unsqueeze", {value}, {{"axes", std::vector<int64_t>{axis}}}));
  }
  return EmitOne(node, base, "Concat", std::move(values), {{"axis", axis}});
}

Status OnnxReader::DefineLoopOutputs(onnx::NodeProto& node, Scope& scope, Unrolled unrolled,
                                     const std::vector<int64_t>& axes) {
  const size_t state_count = unrolled.state.size();
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const auto index = static_cast<size_t>(i);
    ValueId value = kNoValue;
    if (index < state_count) {
      value = unrolled.state[index];
    } else if (index - state_count < unrolled.stacks.size()) {
      const size_t stack = index - state_count;
      TINYPROF_ASSIGN_OR_RETURN(value,
                                EmitStack(node, std::move(unrolled.stacks[stack]), axes[stack]));
    } else {
      return BadLoop(node, "it has more outputs than its body");
    }
    TINYPROF_RETURN_IF_ERROR(Define(scope, node.output(i), value));
  }
  return {};
}

// What it says of going on, if that is known.
Result<bool> OnnxReader::KnownCondition(const onnx::NodeProto& node, ValueId condition) const {
  const std::byte* data = condition < 0 ? nullptr : KnownData(graph_, condition);
  if (data == nullptr) return NotKnown(node, "whether it goes on depends on the data of the run");
  const TensorType& type = graph_.value(condition).type;
  if (type.dtype != DType::kBool || type.shape.element_count() != 1) {
    return BadLoop(node, "the condition is no single bool");
  }
  return *data != std::byte{0};
}

Status OnnxReader::ReadLoop(onnx::NodeProto& node, Scope& scope) {
  onnx::GraphProto* body = BodyOf(node);
  TINYPROF_ASSIGN_OR_RETURN(std::vector<ValueId> inputs, Resolve(node, scope));
  inputs.resize(std::max<size_t>(inputs.size(), 2), kNoValue);
  const size_t state_count = inputs.size() - 2;
  if (body == nullptr || body->input_size() != static_cast<int>(state_count) + 2 ||
      body->output_size() < static_cast<int>(state_count) + 1) {
    return BadLoop(node, "inputs and outputs of its body do not fit");
  }
  int64_t trips = INT64_MAX;
  if (inputs[0] != kNoValue) {
    const std::byte* data = KnownData(graph_, inputs[0]);
    const TensorType& type = graph_.value(inputs[0]).type;
    if (data == nullptr) return NotKnown(node, "how often it runs depends on the data of the run");
    if (type.dtype != DType::kInt64 || type.shape.element_count() != 1) {
      return BadLoop(node, "the trip count is no single int64");
    }
    std::memcpy(&trips, data, sizeof trips);
  }
  bool goes_on = true;
  ValueId condition = inputs[1];
  if (condition != kNoValue) {
    TINYPROF_ASSIGN_OR_RETURN(goes_on, KnownCondition(node, condition));
  } else {
    TensorData always{"",
                      {DType::kBool, Shape()},
                      std::make_shared<const std::vector<std::byte>>(1, std::byte{1})};
    condition = AddInitializer(std::move(always));
  }
  const KeepProtos keep(*this);
  Scope constants;
  constants.parent = &scope;
  TINYPROF_RETURN_IF_ERROR(ReadInitializers(*body, constants));
  Unrolled unrolled{.state = {inputs.begin() + 2, inputs.end()}, .stacks = {}};
  unrolled.stacks.resize(static_cast<size_t>(body->output_size()) - 1 - state_count);
  for (int64_t i = 0; goes_on && i < trips; ++i) {
    TINYPROF_RETURN_IF_ERROR(CountIteration(node));
    std::vector<ValueId> arguments{AddInitializer(IntegerScalar(DType::kInt64, i)), condition};
    arguments.insert(arguments.end(), unrolled.state.begin(), unrolled.state.end());
    TINYPROF_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs,
                              ReadIteration(node, *body, constants, arguments));
    condition = outputs[0];
    std::copy_n(outputs.begin() + 1, state_count, unrolled.state.begin());
    for (size_t k = 0; k < unrolled.stacks.size(); ++k) {
      unrolled.stacks[k].push_back(outputs[1 + state_count + k]);
    }
    TINYPROF_ASSIGN_OR_RETURN(goes_on, KnownCondition(node, condition));
  }
  const std::vector<int64_t> axes(unrolled.stacks.size(), 0);
  return DefineLoopOutputs(node, scope, std::move(unrolled), axes);
}

// How a Scan goes over its inputs and outputs.
struct OnnxReader::ScanPlan {
  size_t state_count = 0;
  int64_t trips = 0;
  std::vector<int64_t> input_axes;
  std::vector<bool> input_reversed;
  std::vector<int64_t> output_axes;
  std::vector<bool> output_reversed;
};

Result<OnnxReader::ScanPlan> OnnxReader::PlanScan(const onnx::NodeProto& node,
                                                  const onnx::GraphProto& body,
                                                  const std::vector<ValueId>& inputs) const {
  TINYPROF_ASSIGN_OR_RETURN(const Attributes attributes, AttributesOf(node));
  const Node holder{.attributes = attributes};
  const NodeSignature signature{.node = &holder, .inputs = {}, .outputs = {}};
  const int64_t scanned = signature.Int("num_scan_inputs", 0);
  if (scanned < 1 || scanned > static_cast<int64_t>(inputs.size()) ||
      body.input_size() != static_cast<int>(inputs.size())) {
    return BadLoop(node, "the inputs of its body do not fit");
  }
  ScanPlan plan{.state_count = inputs.size() - static_cast<size_t>(scanned)};
  if (body.output_size() < static_cast<int>(plan.state_count)) {
    return BadLoop(node, "the outputs of its body do not fit");
  }
  const auto count = static_cast<size_t>(scanned);
  const size_t outputs = static_cast<size_t>(body.output_size()) - plan.state_count;
  const auto list = [&](std::string_view name, size_t length) {
    return signature.Ints(name, std::vector<int64_t>(length, 0));
  };
  plan.input_axes = list("scan_input_axes", count);
  plan.output_axes = list("scan_output_axes", outputs);
  const std::vector<int64_t> in = list("scan_input_directions", count);
  const std::vector<int64_t> out = list("scan_output_directions", outputs);
  if (plan.input_axes.size() != count || in.size() != count || plan.output_axes.size() != outputs ||
      out.size() != outputs) {
    return BadLoop(node, "its axes and directions do not fit");
  }
  for (const int64_t direction : in) plan.input_reversed.push_back(direction != 0);
  for (const int64_t direction : out) plan.output_reversed.push_back(direction != 0);
  for (size_t k = 0; k < count; ++k) {
    const ValueId id = inputs[plan.state_count + k];
    if (id < 0) return BadLoop(node, "an input is missing");
    const Shape& shape = graph_.value(id).type.shape;
    const auto rank = static_cast<int64_t>(shape.rank());
    int64_t& axis = plan.input_axes[k];
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return BadLoop(node, "an axis does not fit its input");
    const int64_t length = shape[static_cast<size_t>(axis)];
    if (k > 0 && length != plan.trips) return BadLoop(node, "its inputs differ in length");
    plan.trips = length;
  }
  return plan;
}

Result<OnnxReader::Unrolled> OnnxReader::UnrollScan(onnx::NodeProto& node, onnx::GraphProto& body,
                                                    const Scope& constants, const ScanPlan& plan,
                                                    const std::vector<ValueId>& inputs) {
  const auto first_scanned = inputs.begin() + static_cast<std::ptrdiff_t>(plan.state_count);
  Unrolled unrolled{.state = {inputs.begin(), first_scanned}, .stacks = {}};
  unrolled.stacks.resize(plan.output_axes.size());
  for (int64_t i = 0; i < plan.trips; ++i) {
    TINYPROF_RETURN_IF_ERROR(CountIteration(node));
    std::vector<ValueId> arguments = unrolled.state;
    for (size_t k = 0; k < plan.input_axes.size(); ++k) {
      const int64_t at = plan.input_reversed[k] ? plan.trips - 1 - i : i;
      TINYPROF_ASSIGN_OR_RETURN(
          const ValueId slice,
          EmitSlice(node, first_scanned[static_cast<std::ptrdiff_t>(k)], plan.input_axes[k], at));
      arguments.push_back(slice);
    }
    TINYPROF_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs,
                              ReadIteration(node, body, constants, arguments));
    std::copy_n(outputs.begin(), plan.state_count, unrolled.state.begin());
    for (size_t k = 0; k < unrolled.stacks.size(); ++k) {
      std::vector<ValueId>& stack = unrolled.stacks[k];
      stack.insert(plan.output_reversed[k] ? stack.begin() : stack.end(),
                   outputs[plan.state_count + k]);
    }
  }
  return unrolled;
}

// What `value` holds at `index` of `axis`, which goes away.
Result<ValueId> OnnxReader::EmitSlice(const onnx::NodeProto& node, ValueId value, int64_t axis,
                                      int64_t index) {
  const Node base{.name = node.name().empty() ? node.op_type() : node.name()};
  const ValueId at = AddInitializer(IntegerScalar(DType::kInt64, index));
  return EmitOne(node, base, "Gather", {value, at}, {{"axis", axis}});
}

Result<std::vector<int64_t>> OnnxReader::KnownSequenceLengths(const onnx::NodeProto& node,
                                                              ValueId lengths,
                                                              int64_t batch) const {
  const std::byte* data = lengths < 0 ? nullptr : KnownData(graph_, lengths);
  if (data == nullptr) {
    return NotKnown(node, "how long its sequences are depends on the data of the run");
  }
  const TensorType& type = graph_.value(lengths).type;
  if (type.dtype != DType::kInt64 || type.shape.element_count() != batch) {
    return BadLoop(node,
                   "its lengths of sequences are not one int64 for each element of the batch");
  }
  std::vector<int64_t> list(static_cast<size_t>(batch));
  if (!list.empty()) std::memcpy(list.data(), data, list.size() * sizeof(int64_t));
  return list;
}

// Zeros for the iterations that a sequence has less than the longest.
void OnnxReader::PadStack(std::vector<ValueId>& stack, int64_t length) {
  if (stack.empty() || stack[0] < 0 || static_cast<int64_t>(stack.size()) >= length) return;
  const TensorType type = graph_.value(stack[0]).type;
  const auto bytes = static_cast<size_t>(type.byte_size());
  const ValueId zeros =
      AddInitializer({"", type, std::make_shared<const std::vector<std::byte>>(bytes)});
  stack.resize(static_cast<size_t>(length), zeros);
}

// The Scan of opset 8: input 0 has the lengths of sequences, and all others a batch as their first
// dimension, each element of which is scanned by itself, backwards from its own end. Beyond that
// its outputs are 0.
Status OnnxReader::ReadBatchedScan(onnx::NodeProto& node, Scope& scope, onnx::GraphProto& body,
                                   const Scope& constants, const std::vector<ValueId>& inputs) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.name() == "directions") attribute.set_name("scan_input_directions");
  }
  if (inputs.size() < 2) return BadLoop(node, "it has no inputs");
  const Value* last = inputs.back() < 0 ? nullptr : &graph_.value(inputs.back());
  if (last == nullptr || last->type.shape.rank() == 0) return BadLoop(node, "it has no batch");
  const int64_t batch = last->type.shape[0];
  std::vector<int64_t> lengths;
  if (inputs[0] != kNoValue) {
    TINYPROF_ASSIGN_OR_RETURN(lengths, KnownSequenceLengths(node, inputs[0], batch));
  }
  Unrolled whole;
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<ValueId> slices;
    for (size_t k = 1; k < inputs.size(); ++k) {
      const Shape* shape = inputs[k] < 0 ? nullptr : &graph_.value(inputs[k]).type.shape;
      if (shape == nullptr || shape->rank() == 0 || (*shape)[0] != batch) {
        return BadLoop(node, "its inputs differ in their batch");
      }
      TINYPROF_ASSIGN_OR_RETURN(const ValueId slice, EmitSlice(node, inputs[k], 0, b));
      slices.push_back(slice);
    }
    TINYPROF_ASSIGN_OR_RETURN(ScanPlan plan, PlanScan(node, body, slices));
    const int64_t longest = plan.trips;
    if (!lengths.empty()) plan.trips = lengths[static_cast<size_t>(b)];
    if (plan.trips > longest || (!lengths.empty() && plan.trips < 1)) {
      return BadLoop(node,
                     fmt::format("a sequence is {} long, wanted 1 to {}", plan.trips, longest));
    }
    TINYPROF_ASSIGN_OR_RETURN(Unrolled one, UnrollScan(node, body, constants, plan, slices));
    // What is the state of one element is an output of the whole, stacked as all others are.
    whole.stacks.resize(one.state.size() + one.stacks.size());
    for (size_t k = 0; k < one.state.size(); ++k) whole.stacks[k].push_back(one.state[k]);
    for (size_t k = 0; k < one.stacks.size(); ++k) {
      PadStack(one.stacks[k], longest);
      TINYPROF_ASSIGN_OR_RETURN(const ValueId stack, EmitStack(node, std::move(one.stacks[k]), 0));
      whole.stacks[one.state.size() + k].push_back(stack);
    }
  }
  const std::vector<int64_t> axes(whole.stacks.size(), 0);
  return DefineLoopOutputs(node, scope, std::move(whole), axes);
}

Status OnnxReader::ReadScan(onnx::NodeProto& node, Scope& scope) {
  onnx::GraphProto* body = BodyOf(node);
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<ValueId> inputs, Resolve(node, scope));
  if (body == nullptr) return BadLoop(node, "it has no body");
  const KeepProtos keep(*this);
  Scope constants;
  constants.parent = &scope;
  TINYPROF_RETURN_IF_ERROR(ReadInitializers(*body, constants));
  if (graph_.opset < 9) return ReadBatchedScan(node, scope, *body, constants, inputs);
  TINYPROF_ASSIGN_OR_RETURN(const ScanPlan plan, PlanScan(node, *body, inputs));
  TINYPROF_ASSIGN_OR_RETURN(Unrolled unrolled, UnrollScan(node, *body, constants, plan, inputs));
  return DefineLoopOutputs(node, scope, std::move(unrolled), plan.output_axes);
}

}  // namespace tinyprof
