// The naive loops of the recurrent cells, as templates on the scalar.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>

#include "kernels/ops/elementwise/unary_functors.h"
#include "kernels/ops/kernel.h"
#include "kernels/ops/recurrent/recurrent.h"
#include "kernels/ops/scalar_math.h"

namespace tinyprof {

// Where one batch element is: its input, its state, and room for its gates.
template <class T>
struct CellState {
  const T* x = nullptr;
  T* hidden = nullptr;
  T* cell = nullptr;   // LSTM
  T* gates = nullptr;  // (gates + 1) * hidden elements
};

template <class T>
T DotOf(const T* a, const T* b, int64_t count, T sum) {
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// What goes into an activation.
template <class T>
T Clipped(const RecurrentDims& dims, T x) {
  return dims.clip > 0 ? Min(Max(x, T(-dims.clip)), T(dims.clip)) : x;
}

// W x + R h + both biases for row `row` of the gates; `h` is the state or what stands in for it.
template <class T>
T Preactivation(const RecurrentDims& dims, const DirectionOperands<T>& operands, const T* x,
                const T* h, int64_t row) {
  T sum = DotOf(x, operands.w + row * dims.input, dims.input, T(0));
  sum = DotOf(h, operands.r + row * dims.hidden, dims.hidden, sum);
  if (operands.input_bias != nullptr) {
    sum += operands.input_bias[row];
    sum += operands.hidden_bias[row];
  }
  return sum;
}

template <class T>
void RnnStep(const RecurrentDims& dims, const DirectionOperands<T>& operands,
             const CellState<T>& state) {
  using std::tanh;
  for (int64_t j = 0; j < dims.hidden; ++j) {
    state.gates[j] = tanh(Clipped(dims, Preactivation(dims, operands, state.x, state.hidden, j)));
  }
  std::copy_n(state.gates, dims.hidden, state.hidden);
}

template <class T>
void LstmStep(const RecurrentDims& dims, const DirectionOperands<T>& operands,
              const CellState<T>& state) {
  using std::tanh;
  const int64_t hidden = dims.hidden;
  for (int64_t row = 0; row < 4 * hidden; ++row) {
    state.gates[row] = Preactivation(dims, operands, state.x, state.hidden, row);
  }
  T* in = state.gates;
  T* out = in + hidden;
  T* forget = out + hidden;
  T* candidate = forget + hidden;
  const T* peepholes = operands.peepholes;
  for (int64_t j = 0; j < hidden; ++j) {
    // The gates of input and forgetting see the cell as it was, that of the output the new one.
    if (peepholes != nullptr) {
      in[j] += peepholes[j] * state.cell[j];
      forget[j] += peepholes[2 * hidden + j] * state.cell[j];
    }
    state.cell[j] = Sigmoid::Apply(Clipped(dims, forget[j]), {}) * state.cell[j] +
                    Sigmoid::Apply(Clipped(dims, in[j]), {}) * tanh(Clipped(dims, candidate[j]));
    if (peepholes != nullptr) out[j] += peepholes[hidden + j] * state.cell[j];
    state.hidden[j] = Sigmoid::Apply(Clipped(dims, out[j]), {}) * tanh(state.cell[j]);
  }
}

// The candidate of unit j of a GRU; `reset` holds the reset gates, `reset_hidden` the state times
// them.
template <class T>
T GruCandidate(const RecurrentDims& dims, const DirectionOperands<T>& operands,
               const CellState<T>& state, const T* reset, const T* reset_hidden, int64_t j) {
  using std::tanh;
  const int64_t row = 2 * dims.hidden + j;
  if (!dims.linear_before_reset) {
    return tanh(Clipped(dims, Preactivation(dims, operands, state.x, reset_hidden, row)));
  }
  T from_hidden =
      DotOf(static_cast<const T*>(state.hidden), operands.r + row * dims.hidden, dims.hidden, T(0));
  if (operands.hidden_bias != nullptr) from_hidden += operands.hidden_bias[row];
  T sum = DotOf(state.x, operands.w + row * dims.input, dims.input, T(0));
  sum += reset[j] * from_hidden;
  if (operands.input_bias != nullptr) sum += operands.input_bias[row];
  return tanh(Clipped(dims, sum));
}

template <class T>
void GruStep(const RecurrentDims& dims, const DirectionOperands<T>& operands,
             const CellState<T>& state) {
  const int64_t hidden = dims.hidden;
  T* update = state.gates;
  T* reset = update + hidden;
  T* candidate = reset + hidden;
  T* reset_hidden = candidate + hidden;
  for (int64_t row = 0; row < 2 * hidden; ++row) {
    const T sum = Preactivation(dims, operands, state.x, state.hidden, row);
    state.gates[row] = Sigmoid::Apply(Clipped(dims, sum), {});
  }
  for (int64_t j = 0; j < hidden && !dims.linear_before_reset; ++j) {
    reset_hidden[j] = reset[j] * state.hidden[j];
  }
  for (int64_t j = 0; j < hidden; ++j) {
    candidate[j] = GruCandidate<T>(dims, operands, state, reset, reset_hidden, j);
  }
  for (int64_t j = 0; j < hidden; ++j) {
    state.hidden[j] = (T(1) - update[j]) * candidate[j] + update[j] * state.hidden[j];
  }
}

template <class T, Cell cell>
void CellStep(const RecurrentDims& dims, const DirectionOperands<T>& operands,
              const CellState<T>& state) {
  if constexpr (cell == Cell::kRnn) RnnStep(dims, operands, state);
  if constexpr (cell == Cell::kGru) GruStep(dims, operands, state);
  if constexpr (cell == Cell::kLstm) LstmStep(dims, operands, state);
}

template <class T>
void CopyOrClear(const T* from, int64_t count, T* to) {
  if (from != nullptr) {
    std::copy_n(from, count, to);
  } else {
    std::fill_n(to, count, T(0));
  }
}

template <class T>
void CopyIfWanted(const T* from, int64_t count, T* to) {
  if (to != nullptr) std::copy_n(from, count, to);
}

// Steps of the sequence of batch element `n`; data of the run, so never beyond the input.
template <class T>
int64_t LengthOf(const RecurrentDims& dims, const DirectionOperands<T>& operands, int64_t n) {
  if (operands.lengths == nullptr) return dims.steps;
  return std::clamp<int64_t>(operands.lengths[n], 0, dims.steps);
}

// Elements that RecurrentLoop needs beside its operands.
inline int64_t RecurrentScratchElements(const RecurrentDims& dims) {
  return 2 * dims.state_size() + (dims.gates + 1) * dims.hidden;
}

template <class T, Cell cell>
void RecurrentLoop(const RecurrentDims& dims, const KernelArgs& args, T* scratch) {
  T* hidden = scratch;
  T* cells = hidden + dims.state_size();
  T* gates = cells + dims.state_size();
  for (int64_t direction = 0; direction < dims.directions; ++direction) {
    const DirectionOperands<T> operands = OperandsOf<T>(dims, args, direction);
    CopyOrClear(operands.initial_hidden, dims.state_size(), hidden);
    CopyOrClear(operands.initial_cell, dims.state_size(), cells);
    for (int64_t step = 0; step < dims.steps; ++step) {
      for (int64_t n = 0; n < dims.batch; ++n) {
        const int64_t length = LengthOf(dims, operands, n);
        const bool has_ended = step >= length;
        const int64_t time = has_ended ? step : dims.time_of(direction, step, length);
        T* state = hidden + n * dims.hidden;
        if (!has_ended) {
          CellStep<T, cell>(dims, operands,
                            {.x = operands.x + (time * dims.batch + n) * dims.input,
                             .hidden = state,
                             .cell = cells + n * dims.hidden,
                             .gates = gates});
        }
        if (operands.y == nullptr) continue;
        T* y = operands.y + time * dims.directions * dims.state_size() + n * dims.hidden;
        CopyOrClear(has_ended ? nullptr : static_cast<const T*>(state), dims.hidden, y);
      }
    }
    CopyIfWanted(hidden, dims.state_size(), operands.last_hidden);
    CopyIfWanted(cells, dims.state_size(), operands.last_cell);
  }
}

template <class T, Cell cell>
class RecurrentReference final : public Kernel {
 public:
  explicit RecurrentReference(const NodeSignature& signature)
      : dims_(RecurrentDimsOf(signature, cell)) {}
  std::string implementation() const override { return "naive"; }
  int64_t scratch_bytes() const override {
    return RecurrentScratchElements(dims_) * static_cast<int64_t>(sizeof(T));
  }
  void Run(const KernelArgs& args) const noexcept override {
    RecurrentLoop<T, cell>(dims_, args, reinterpret_cast<T*>(args.scratch.data()));
  }

 private:
  RecurrentDims dims_;
};

template <class T, Cell cell>
Result<std::unique_ptr<Kernel>> MakeRecurrentReference(const NodeSignature& signature,
                                                       const KernelOptions& /*options*/) {
  constexpr DType kWanted = std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64;
  const DType dtype = signature.input(0).dtype;
  if (dtype != kWanted) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                signature.node->op_type + " has no kernel for " + std::string(Name(dtype)));
  }
  return std::make_unique<RecurrentReference<T, cell>>(signature);
}

}  // namespace tinyprof
