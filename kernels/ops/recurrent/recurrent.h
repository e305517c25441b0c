// LSTM, GRU and RNN with the semantics of ONNX: X [steps, batch, input], weights W [directions,
// gates * hidden, input] and R [directions, gates * hidden, hidden], optional bias B [directions, 2
// * gates * hidden], lengths of sequences [batch], initial state [directions, batch, hidden] (LSTM:
// and cell, and peepholes [directions, 3 * hidden]). Outputs, all optional: Y [steps, directions,
// batch, hidden], the last state and the last cell [directions, batch, hidden]. Default activations
// only; what goes into those of the gates may be clipped (the state of an LSTM never is). A
// sequence that has ended keeps its state, and Y is 0 there; the cost counts all steps.
#pragma once

#include <cstdint>

#include "kernels/graph/graph.h"
#include "kernels/ops/kernel.h"

namespace tinyprof {

enum class Cell { kRnn, kGru, kLstm };

// 1, 3 (update, reset, hidden) or 4 (input, output, forget, cell), in the order of ONNX.
constexpr int64_t GateCount(Cell cell) {
  return cell == Cell::kRnn ? 1 : cell == Cell::kGru ? 3 : 4;
}

struct RecurrentDims {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t input = 0;
  int64_t hidden = 0;
  int64_t directions = 1;
  int64_t gates = 1;
  bool first_is_reverse = false;
  float clip = 0;  // what goes into the activations of gates is clipped to [-clip, clip]; 0: not
  bool linear_before_reset = false;  // GRU: the reset gate scales R h + bias instead of h

  int64_t gate_width() const { return gates * hidden; }
  int64_t state_size() const { return batch * hidden; }
  // The time that `step` of `direction` works on, in a sequence of `length` steps.
  int64_t time_of(int64_t direction, int64_t step, int64_t length) const {
    return first_is_reverse || direction == 1 ? length - 1 - step : step;
  }
  int64_t time_of(int64_t direction, int64_t step) const { return time_of(direction, step, steps); }
};
// The signature has passed the type rule.
RecurrentDims RecurrentDimsOf(const NodeSignature& signature, Cell cell);

// The operands of one direction. Optional ones are null when they are left out.
template <class T>
struct DirectionOperands {
  const T* x = nullptr;
  const T* w = nullptr;
  const T* r = nullptr;
  const T* input_bias = nullptr;   // gate_width() elements
  const T* hidden_bias = nullptr;  // gate_width() elements
  const T* initial_hidden = nullptr;
  const T* initial_cell = nullptr;
  const T* peepholes = nullptr;      // input, output, forget: hidden elements each
  const int32_t* lengths = nullptr;  // by batch element
  T* y = nullptr;  // of the first step; a step is directions * state_size() elements
  T* last_hidden = nullptr;
  T* last_cell = nullptr;
};

template <class T>
DirectionOperands<T> OperandsOf(const RecurrentDims& dims, const KernelArgs& args,
                                int64_t direction) {
  constexpr size_t kBias = 3, kLengths = 4, kInitialHidden = 5, kInitialCell = 6, kPeepholes = 7;
  const auto in = [&](size_t index, int64_t elements) {
    return args.has_input(index) ? args.In<T>(index) + direction * elements : nullptr;
  };
  const auto out = [&](size_t index) {
    return index < args.outputs.size() && args.outputs[index].data != nullptr
               ? args.Out<T>(index) + direction * dims.state_size()
               : nullptr;
  };
  const T* bias = in(kBias, 2 * dims.gate_width());
  return {.x = args.In<T>(0),
          .w = in(1, dims.gate_width() * dims.input),
          .r = in(2, dims.gate_width() * dims.hidden),
          .input_bias = bias,
          .hidden_bias = bias == nullptr ? nullptr : bias + dims.gate_width(),
          .initial_hidden = in(kInitialHidden, dims.state_size()),
          .initial_cell = in(kInitialCell, dims.state_size()),
          .peepholes = in(kPeepholes, 3 * dims.hidden),
          .lengths = args.has_input(kLengths) ? args.In<int32_t>(kLengths) : nullptr,
          .y = out(0),
          .last_hidden = out(1),
          .last_cell = out(2)};
}

}  // namespace tinyprof
