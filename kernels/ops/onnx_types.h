// Numbers that an operator knows before the run, and ONNX's numbers for element types.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

// The element type with that number in ONNX's TensorProto.DataType, or nothing.
std::optional<DType> DTypeOfOnnxNumber(int64_t number);

// The elements of input `index` of any type; `what` says what they are for. UNIMPLEMENTED /
// "SHAPE_NOT_KNOWN" when only the run would know them.
Result<std::vector<double>> KnownNumbers(const NodeSignature& signature, size_t index,
                                         std::string_view what);
// The same for one number.
Result<double> KnownNumber(const NodeSignature& signature, size_t index, std::string_view what);

}  // namespace tinyprof
