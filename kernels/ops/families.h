// One table of operators a family; registry.cc joins them.
#pragma once

#include <span>

#include "kernels/ops/op.h"

namespace tinyprof {

std::span<const Operator> MatmulOperators();
std::span<const Operator> ConvOperators();
std::span<const Operator> PoolOperators();
std::span<const Operator> NormOperators();
std::span<const Operator> SoftmaxOperators();
std::span<const Operator> ElementwiseOperators();
std::span<const Operator> ReduceOperators();
std::span<const Operator> EmbeddingOperators();
std::span<const Operator> AttentionOperators();
std::span<const Operator> RecurrentOperators();
std::span<const Operator> ShapeOperators();
std::span<const Operator> IndexOperators();
std::span<const Operator> ResizeOperators();
std::span<const Operator> QuantizeOperators();
std::span<const Operator> EinsumOperators();
std::span<const Operator> SignalOperators();
std::span<const Operator> ReorderOperators();

}  // namespace tinyprof
