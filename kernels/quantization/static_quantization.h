// A network of 8-bit products whose ranges of activations were found before the run.
//
// Conv becomes QLinearConv (int32 bias) and MatMul QLinearMatMul, with uint8 activations and int8
// weights of a scale for each output channel. A QuantizeLinear or DequantizeLinear stands only
// where an 8-bit node meets one that stays float32: between two 8-bit nodes values stay uint8, and
// so they do through MaxPool, Reshape, Flatten, Transpose, Squeeze, Unsqueeze and Identity. A Relu,
// or a Clip around 0, that alone reads a product is the lower or upper end of that product's range.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/quantization/byte_scale.h"

namespace tinyprof {

using ValueRanges = std::map<ValueId, ValueRange>;

// The values whose ranges QuantizeStatic asks for, when it quantizes these nodes of `graph` (by
// position): what they read and what they give, behind a Relu that goes with them.
std::set<ValueId> ValuesToCalibrate(const Graph& graph, const std::vector<bool>& quantized);

// `graph` is what PrepareForQuantization gave; names are unique and unused values gone.
Graph QuantizeStatic(const Graph& graph, const std::vector<bool>& quantized,
                     const ValueRanges& ranges);

}  // namespace tinyprof
