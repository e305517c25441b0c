#include "kernels/ops/attention/cost.h"

#include <algorithm>

#include "kernels/ops/attention/attention.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/softmax/cost.h"

namespace tinyprof {
namespace {

// Pairs of a query and a key that it may see, in one head.
Result<int64_t> VisiblePairs(const AttentionDims& dims) {
  if (!dims.is_causal) return CheckedMul(dims.queries, dims.keys);
  // Query i sees min(i + 1, keys) keys: a triangle, then rows that see all.
  const int64_t rising = std::min(dims.queries, dims.keys);
  TINYPROF_ASSIGN_OR_RETURN(const int64_t triangle, CheckedMul(rising, rising + 1));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t after, CheckedMul(dims.queries - rising, dims.keys));
  return CheckedAdd(triangle / 2, after);
}

}  // namespace

Result<Cost> AttentionCost(const NodeSignature& signature) {
  const AttentionDims dims = AttentionDimsOf(signature);
  TINYPROF_ASSIGN_OR_RETURN(const int64_t rows, CheckedMul(dims.head_count(), dims.queries));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t scores, CheckedMul(rows, dims.keys));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t depths, CheckedAdd(dims.depth, dims.value_depth));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t pairs, VisiblePairs(dims));

  Cost cost;
  TINYPROF_ASSIGN_OR_RETURN(cost.flops, SoftmaxClasses(dims.keys, rows));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t per_score,
                            CheckedMul(signature.has_input(3) ? 2 : 1, scores));
  TINYPROF_ASSIGN_OR_RETURN(cost.flops.add_mul_div, CheckedAdd(cost.flops.add_mul_div, per_score));
  TINYPROF_ASSIGN_OR_RETURN(cost.flops.mac, CheckedMul(scores, depths));
  TINYPROF_ASSIGN_OR_RETURN(cost.valid_tap_mac_count,
                            CheckedProduct({dims.head_count(), pairs, depths}));
  return cost;
}

}  // namespace tinyprof
