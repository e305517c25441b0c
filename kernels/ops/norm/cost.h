// Cost rules of the normalizations.
#pragma once

#include "kernels/ops/op.h"

namespace tinyprof {

// 1 multiply and 1 add per element; the factors of a channel come from weights alone and are no
// part of the run.
Result<Cost> BatchNormCost(const NodeSignature& signature);

// Per row of d elements: mean d-1 reduction + 1 div; deviation d sub; variance d mul + d-1
// reduction
// + 1 div; 1 add (epsilon) + 1 sqrt + 1 div; then d mul, d mul (scale) and d add (bias, if given).
Result<Cost> LayerNormCost(const NodeSignature& signature);

}  // namespace tinyprof
