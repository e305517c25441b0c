// Cost rule of Attention: both matrix products on the full square of scores, of which
// valid_tap_mac_count are those on positions that a causal query may see; per score 1 multiply
// (scale) and, with a mask, 1 add; and a softmax over the keys for each query.
#pragma once

#include "kernels/ops/op.h"

namespace tinyprof {

Result<Cost> AttentionCost(const NodeSignature& signature);

}  // namespace tinyprof
