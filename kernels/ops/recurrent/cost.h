// Cost rule of the recurrent cells. Per step, batch element and direction: gates * hidden * (input
// + hidden) multiply-accumulates, with a bias 2 adds for each gate, and per hidden unit
//   RNN   h = tanh(.)
//   GRU   2 sigmoids, 1 tanh; reset: 1 mul (before the product) or 1 mul + 1 add (after it);
//         (1 - z) * candidate + z * h: 4
//   LSTM  3 sigmoids, 2 tanh; f * c + i * candidate: 3; o * tanh(c): 1; with peepholes 3 mul + 3
//   add
// A clip is 2 minima or maxima for each gate. A sigmoid is 1 transcendental + 1 add + 1 div.
#pragma once

#include "kernels/ops/op.h"
#include "kernels/ops/recurrent/recurrent.h"

namespace tinyprof {

Result<Cost> CellCost(const RecurrentDims& dims, Cell cell, bool has_bias, bool has_peepholes);

template <Cell cell>
Result<Cost> RecurrentCost(const NodeSignature& signature) {
  constexpr size_t kBias = 3, kPeepholes = 7;
  return CellCost(RecurrentDimsOf(signature, cell), cell, signature.has_input(kBias),
                  signature.has_input(kPeepholes));
}

}  // namespace tinyprof
