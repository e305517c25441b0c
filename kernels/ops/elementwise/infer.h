// Type rules of the element-wise operators.
#pragma once

#include <vector>

#include "kernels/ops/checks.h"

namespace tinyprof {

using Types = std::vector<TensorType>;

// One float operand, or also an integer one, and a result of its type.
Result<Types> InferUnaryFloat(const NodeSignature& signature, size_t output_count);
Result<Types> InferUnaryNumber(const NodeSignature& signature, size_t output_count);
Result<Types> InferNot(const NodeSignature& signature, size_t output_count);
// Gelu: `approximate` is "none" or "tanh". Swish: `alpha` is 1.
Result<Types> InferGelu(const NodeSignature& signature, size_t output_count);
Result<Types> InferSwish(const NodeSignature& signature, size_t output_count);
Result<Types> InferClip(const NodeSignature& signature, size_t output_count);

// Operands of one dtype, broadcast together.
Result<Types> InferFold(const NodeSignature& signature, size_t output_count);
Result<Types> InferMean(const NodeSignature& signature, size_t output_count);
// Mod: floats need fmod. BitShift: integers, direction LEFT or RIGHT.
Result<Types> InferMod(const NodeSignature& signature, size_t output_count);
Result<Types> InferBitShift(const NodeSignature& signature, size_t output_count);
// IsNaN, IsInf: bool of a float.
Result<Types> InferIsFloatClass(const NodeSignature& signature, size_t output_count);
Result<Types> InferPRelu(const NodeSignature& signature, size_t output_count);
Result<Types> InferCompare(const NodeSignature& signature, size_t output_count);
Result<Types> InferLogical(const NodeSignature& signature, size_t output_count);
Result<Types> InferWhere(const NodeSignature& signature, size_t output_count);

// Any dtype in and the same out.
Result<Types> InferIdentity(const NodeSignature& signature, size_t output_count);
// Dropout as in inference; the optional second output is the mask.
Result<Types> InferDropout(const NodeSignature& signature, size_t output_count);
// Attribute "to" is a number of ONNX's TensorProto.DataType.
Result<Types> InferCast(const NodeSignature& signature, size_t output_count);

}  // namespace tinyprof
