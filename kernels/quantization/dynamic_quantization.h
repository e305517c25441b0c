// A network of 8-bit products that looks up the range of each activation when it runs.
//
// x y of a Conv or MatMul becomes DynamicQuantizeLinear (once for each x), ConvInteger or
// MatMulInteger, Cast to float32 and Mul by the product of both scales, with an Add of a Conv's
// bias; weights are int8 with a scale for each output channel.
#pragma once

#include <vector>

#include "kernels/graph/graph.h"

namespace tinyprof {

// Quantizes these nodes (by position) of `graph`, which is what PrepareForQuantization gave; names
// are unique and unused values gone.
Graph QuantizeDynamic(const Graph& graph, const std::vector<bool>& quantized);

}  // namespace tinyprof
