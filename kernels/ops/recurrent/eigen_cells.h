// The element-wise part of the recurrent cells on Eigen, for one batch element.
//
// `gates` holds the preactivations, a run of `hidden` floats a gate in the order of ONNX; `state`
// and `cell` are updated.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "kernels/ops/elementwise/eigen_rows.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

template <class X>
auto SigmoidOf(const X& x) {
  return (1.0F + (-x).exp()).inverse();
}

inline void FinishRnn(const float* gates, int64_t hidden, float* state) {
  FloatRow(state, hidden) = ConstFloatRow(gates, hidden).tanh();
}

inline void FinishLstm(const float* gates, int64_t hidden, float* state, float* cell) {
  const ConstFloatRow in(gates, hidden);
  const ConstFloatRow out(gates + hidden, hidden);
  const ConstFloatRow forget(gates + 2 * hidden, hidden);
  const ConstFloatRow candidate(gates + 3 * hidden, hidden);
  FloatRow c(cell, hidden);
  c = SigmoidOf(forget) * c + SigmoidOf(in) * candidate.tanh();
  FloatRow(state, hidden) = SigmoidOf(out) * c.tanh();
}

// reset_state = sigmoid(reset) * state: what the candidate's product takes for the state.
inline void ResetState(const float* gates, int64_t hidden, const float* state, float* reset_state) {
  FloatRow(reset_state, hidden) =
      SigmoidOf(ConstFloatRow(gates + hidden, hidden)) * ConstFloatRow(state, hidden);
}

// candidate += sigmoid(reset) * from_state, where from_state is R h + bias.
inline void AddReset(const float* from_state, int64_t hidden, float* gates) {
  FloatRow(gates + 2 * hidden, hidden) +=
      SigmoidOf(ConstFloatRow(gates + hidden, hidden)) * ConstFloatRow(from_state, hidden);
}

// state = (1 - z) * tanh(candidate) + z * state. Overwrites the update gate with z.
inline void FinishGru(float* gates, int64_t hidden, float* state) {
  FloatRow z(gates, hidden);
  z = SigmoidOf(z);
  const ConstFloatRow candidate(gates + 2 * hidden, hidden);
  FloatRow h(state, hidden);
  h = (1.0F - z) * candidate.tanh() + z * h;
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
