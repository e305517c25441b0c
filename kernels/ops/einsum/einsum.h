// Einsum: sums of products over the letters of an equation, of any number of operands.
//
// The naive kernel runs all letters in nested loops. The cost is that of those loops: for each
// combination of letters n - 1 multiplications for n operands, and for each output one addition
// less than there are combinations behind it. With two operands these are multiply-accumulates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/graph/graph.h"

namespace tinyprof {

// Letters are numbered, those of the output first; "..." has become letters of its own.
struct EinsumPlan {
  Shape output;
  std::vector<int64_t> kept;    // lengths of the output's letters
  std::vector<int64_t> summed;  // lengths of the others
  // By operand: how far one step of each letter moves, those of `kept` first.
  std::vector<std::vector<int64_t>> strides;

  int64_t kept_count() const;
  int64_t summed_count() const;
};

Result<EinsumPlan> EinsumPlanOf(const NodeSignature& signature);

}  // namespace tinyprof
