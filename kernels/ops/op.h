// The operator registry: for each ONNX operator its type rule, its cost rule and its kernels.
//
// Each family lives in kernels/ops/<family>/ and exports one table (`<Family>Operators()`),
// declared in families.h. Adding an operator touches that folder and one line of its table.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/ops/cost.h"
#include "kernels/ops/kernel.h"
#include "kernels/tensor/shape.h"

namespace tinyprof {

struct Operator {
  std::string_view type;  // the ONNX name
  size_t min_inputs = 1;
  size_t max_inputs = 1;
  // The types of `output_count` outputs. Checks everything the cost and the kernels rely on:
  // INVALID_ARGUMENT / "SHAPE_MISMATCH" says what was got and what was wanted.
  Result<std::vector<TensorType>> (*infer)(const NodeSignature& signature, size_t output_count);
  // The cost without bytes, which CostOf() fills in. OUT_OF_RANGE when a count passes 2^63.
  Result<Cost> (*cost)(const NodeSignature& signature);
  // The naive kernel in float and in double: the truth.
  KernelFactory reference;
  KernelFactory reference_f64;
  // Bytes of input `index` that are really read; null: all of it. (A Gather reads the rows it
  // takes.)
  int64_t (*bytes_read)(const NodeSignature& signature, size_t index) = nullptr;
};

// The operator of that type, or null.
const Operator* FindOperator(std::string_view type);
// All of them, in the order of families.
std::vector<const Operator*> AllOperators();

// The output types of a node; UNIMPLEMENTED / "UNKNOWN_OPERATOR" for a type with no rule.
Result<std::vector<TensorType>> InferTypes(const NodeSignature& signature, size_t output_count);
// The whole cost of a node whose outputs are known. That of a fused node has the operations of its
// parts and moves each of its own operands once: no value between its parts.
Result<Cost> CostOf(const NodeSignature& signature);

}  // namespace tinyprof
