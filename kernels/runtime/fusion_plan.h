// Makes nodes that can run as one into one, so that what lies between them is never written: a
// matrix product or a convolution takes what is done to each element of its result.
//
// After Conv, ConvTranspose, Gemm and MatMul of float32:
//   BatchNormalization      of a convolution whose weights and statistics are initializers
//   Add                     of an initializer by channel (by column of a matrix product), or of a
//                           value of the same shape, once
//   an activation           Relu, LeakyRelu, Elu, Clip between constants, Sigmoid, HardSigmoid,
//                           HardSwish, Tanh, Gelu, Swish, Softplus; also x * HardSigmoid(x) and
//                           x * Sigmoid(x), and the forms of HardSwish from Add, Clip, Mul and Div
// in any order and up to eight of them, as long as each value between them has no other reader and
// is no output of the graph. Coefficients of a HardSwish may be off by 1e-6 of their value, as
// exports write them.
#pragma once

#include <functional>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

// Whether a fused node may be; where not, one that stands for fewer nodes is tried.
using FusionFilter = std::function<bool(const NodeSignature& fused)>;

// The graph with fused nodes, each at the place of the last node that it stands for and with the
// name of the first. Values and their ids stay; those between fused nodes belong to no node.
Graph FuseNodes(const Graph& graph, const FusionFilter& may_be);

// FuseNodes() with what the backend's kernels take. Where Winograd's convolution is asked for and
// to be had, only what it takes is fused. Fails as PrepareOnednn() does.
Result<Graph> PlanFusion(const Graph& graph, const SessionOptions& options);

}  // namespace tinyprof
