// Compares a tensor with the one that a test suite wants.
#pragma once

#include <string>

#include "daemon/model/tensor_proto.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {

// Empty when `got` has the type of `want` and its elements: floats within 1e-7 + 1e-3 |want|, as
// ONNX's own runner has it (bfloat16: within one unit in the last place), all others equal. Else
// the first difference, for people.
std::string DifferenceOf(const ConstTensorView& got, const TensorData& want);

}  // namespace tinyprof
