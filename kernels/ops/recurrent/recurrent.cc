#include "kernels/ops/recurrent/recurrent.h"

#include <fmt/format.h>

#include <array>

#include "kernels/ops/checks.h"
#include "kernels/ops/families.h"
#include "kernels/ops/recurrent/cost.h"
#include "kernels/ops/recurrent/reference.h"

namespace tinyprof {
namespace {

using Types = std::vector<TensorType>;

tl::unexpected<Error> NotSupported(const NodeSignature& signature, std::string_view what) {
  return Fail(ErrorCode::kUnimplemented, "ATTRIBUTE_NOT_SUPPORTED",
              fmt::format("{} with {} is not supported", signature.node->op_type, what));
}

std::string DefaultActivations(Cell cell, int64_t directions) {
  const std::string_view one = cell == Cell::kRnn   ? "Tanh"
                               : cell == Cell::kGru ? "Sigmoid,Tanh"
                                                    : "Sigmoid,Tanh,Tanh";
  return directions == 1 ? std::string(one) : fmt::format("{},{}", one, one);
}

Status CheckUnsupported(const NodeSignature& signature, Cell cell) {
  const std::string direction = signature.String("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return BadAttribute(signature, fmt::format("direction is \"{}\", wanted \"forward\", "
                                               "\"reverse\" or \"bidirectional\"",
                                               direction));
  }
  // A list of names reaches us joined by commas.
  if (signature.has_attribute("activations")) {
    const std::string wanted = DefaultActivations(cell, direction == "bidirectional" ? 2 : 1);
    const std::string got = signature.String("activations", "another list");
    if (got != wanted) {
      return NotSupported(signature, fmt::format("activations {} (only {})", got, wanted));
    }
  }
  if (signature.Int("layout", 0) != 0) return NotSupported(signature, "layout 1 (batch first)");
  if (signature.Int("input_forget", 0) != 0) return NotSupported(signature, "input_forget");
  // Written so that NaN is refused.
  if (signature.has_attribute("clip") && !(signature.Float("clip", 0) > 0)) {
    return BadAttribute(signature,
                        fmt::format("clip is {}, wanted more than 0", signature.Float("clip", 0)));
  }
  return {};
}

// The lengths of sequences are int32, all other operands have the type of X.
Status CheckTypes(const NodeSignature& signature) {
  constexpr size_t kLengths = 4;
  NodeSignature others = signature;
  if (signature.has_input(kLengths)) {
    if (signature.input(kLengths).dtype != DType::kInt32) {
      return Fail(ErrorCode::kInvalidArgument, "DTYPE_MISMATCH",
                  fmt::format("{} wants int32 for sequence_lens, got {}", signature.node->op_type,
                              Name(signature.input(kLengths).dtype)));
    }
    others.inputs[kLengths].present = false;
  }
  return CheckSameDType(others, 0, 1);
}

template <Cell cell>
Result<Types> InferRecurrent(const NodeSignature& signature, size_t output_count) {
  constexpr size_t kOutputs = cell == Cell::kLstm ? 3 : 2;
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, kOutputs));
  TINYPROF_RETURN_IF_ERROR(CheckUnsupported(signature, cell));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckTypes(signature));
  for (const size_t index : {size_t{0}, size_t{1}, size_t{2}}) {
    TINYPROF_RETURN_IF_ERROR(CheckRank(signature, index, 3, 3));
  }
  const RecurrentDims dims = RecurrentDimsOf(signature, cell);
  const int64_t hidden = signature.Int("hidden_size", dims.hidden);
  if (hidden != dims.hidden) {
    return ShapeMismatch(signature, fmt::format("hidden_size is {}, but R has shape {}", hidden,
                                                signature.input(2).shape.ToString()));
  }
  const Shape state{dims.directions, dims.batch, dims.hidden};
  const std::array<std::pair<size_t, Shape>, 7> wanted = {{
      {1, {dims.directions, dims.gate_width(), dims.input}},
      {2, {dims.directions, dims.gate_width(), dims.hidden}},
      {3, {dims.directions, 2 * dims.gate_width()}},
      {4, {dims.batch}},
      {5, state},
      {6, state},
      {7, {dims.directions, 3 * dims.hidden}},
  }};
  constexpr std::array<std::string_view, 8> kNames = {
      "X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"};
  for (const auto& [index, shape] : wanted) {
    TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, index, kNames[index], shape));
  }
  Result<Shape> y = Shape::Create({dims.steps, dims.directions, dims.batch, dims.hidden});
  if (!y) return ShapeMismatch(signature, y.error().message);
  Types types(output_count, {signature.input(0).dtype, state});
  types[0].shape = *std::move(y);
  return types;
}

template <Cell cell>
constexpr Operator Recurrent(size_t max_inputs) {
  return {cell == Cell::kRnn   ? "RNN"
          : cell == Cell::kGru ? "GRU"
                               : "LSTM",
          3,
          max_inputs,
          &InferRecurrent<cell>,
          &RecurrentCost<cell>,
          &MakeRecurrentReference<float, cell>,
          &MakeRecurrentReference<double, cell>};
}

constexpr std::array kOperators = {
    Recurrent<Cell::kRnn>(6),
    Recurrent<Cell::kGru>(6),
    Recurrent<Cell::kLstm>(8),
};

}  // namespace

RecurrentDims RecurrentDimsOf(const NodeSignature& signature, Cell cell) {
  const Shape& x = signature.input(0).shape;
  const std::string direction = signature.String("direction", "forward");
  return {.steps = x[0],
          .batch = x[1],
          .input = x[2],
          .hidden = signature.input(2).shape[2],
          .directions = direction == "bidirectional" ? 2 : 1,
          .gates = GateCount(cell),
          .first_is_reverse = direction == "reverse",
          .clip = signature.Float("clip", 0),
          .linear_before_reset = signature.Int("linear_before_reset", 0) != 0};
}

std::span<const Operator> RecurrentOperators() { return kOperators; }

}  // namespace tinyprof
