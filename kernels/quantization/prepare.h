// A network rewritten, still in float32, so that more of it can be quantized.
//
// A BatchNormalization directly behind a Conv goes into the Conv's weights and bias, worked out in
// double (AffineOf of kernels/graph/fusion.h). A Gemm with constant weights becomes a MatMul of the
// same name and an Add of its bias, with transposition and factors worked into the weights: ONNX
// has no Gemm of 8-bit numbers. Weights that several nodes share stay shared.
#pragma once

#include "kernels/graph/graph.h"

namespace tinyprof {

struct PreparedGraph {
  Graph graph;
  int64_t folded_batch_norms = 0;
};

// Inputs, outputs and nodes that are not rewritten keep their names, values get other ids.
PreparedGraph PrepareForQuantization(const Graph& graph);

}  // namespace tinyprof
