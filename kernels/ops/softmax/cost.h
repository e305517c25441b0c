// Cost rules of Softmax and LogSoftmax over n elements, for each of the other indices.
#pragma once

#include "kernels/ops/op.h"

namespace tinyprof {

// n-1 minmax, n sub, n exp, n-1 reduction, n div.
Result<Cost> SoftmaxCost(const NodeSignature& signature);
// n-1 minmax, n sub, n exp, n-1 reduction, 1 log, n sub.
Result<Cost> LogSoftmaxCost(const NodeSignature& signature);

// Softmax of `rows` rows of n elements; nothing for n = 0.
Result<FlopClasses> SoftmaxClasses(int64_t n, int64_t rows);

}  // namespace tinyprof
