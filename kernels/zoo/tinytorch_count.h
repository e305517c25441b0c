// FLOPs as TinyTorch's module 14 counts them, for people who compare with the course.
//
// Per sample (the batch is dimension 0 of the first graph input). A linear layer is 2*in*out for
// each position, a convolution 2 per multiply-accumulate, neither with bias; any other layer is 1
// per element of its input. A graph with an Attention node is counted as a GPT: its linear layers
// plus 4*length^2*width for each attention, and nothing else.
#pragma once

#include <cstdint>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

// OUT_OF_RANGE / "OVERFLOW" when the count passes 2^63.
Result<int64_t> TinyTorchFlopCount(const Graph& graph);

}  // namespace tinyprof
