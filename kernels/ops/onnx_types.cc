#include "kernels/ops/onnx_types.h"

#include <fmt/format.h>

#include <map>

#include "kernels/ops/checks.h"
#include "kernels/ops/convert.h"

namespace tinyprof {

std::optional<DType> DTypeOfOnnxNumber(int64_t number) {
  static const std::map<int64_t, DType> kByNumber = {
      {1, DType::kFloat32},  {2, DType::kUInt8},    {3, DType::kInt8},
      {6, DType::kInt32},    {7, DType::kInt64},    {9, DType::kBool},
      {10, DType::kFloat16}, {11, DType::kFloat64}, {16, DType::kBFloat16},
  };
  const auto found = kByNumber.find(number);
  if (found == kByNumber.end()) return std::nullopt;
  return found->second;
}

Result<std::vector<double>> KnownNumbers(const NodeSignature& signature, size_t index,
                                         std::string_view what) {
  const TensorType& type = signature.input(index);
  if (type.shape.element_count() == 0) return std::vector<double>();
  const void* data = signature.inputs[index].data;
  if (data == nullptr) {
    return Fail(ErrorCode::kUnimplemented, "SHAPE_NOT_KNOWN",
                fmt::format("{} needs its {} (input {}) before the run: make it an initializer of "
                            "the model",
                            signature.node->op_type, what, index),
                {{"input", std::to_string(index)}});
  }
  std::vector<double> numbers(static_cast<size_t>(type.shape.element_count()));
  FindConversion(type.dtype, DType::kFloat64)(data, numbers.data(), 0, type.shape.element_count());
  return numbers;
}

Result<double> KnownNumber(const NodeSignature& signature, size_t index, std::string_view what) {
  if (signature.input(index).shape.element_count() != 1) {
    return ShapeMismatch(signature, fmt::format("{} has shape {}, wanted one element", what,
                                                signature.input(index).shape.ToString()));
  }
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> numbers,
                            KnownNumbers(signature, index, what));
  return numbers[0];
}

}  // namespace tinyprof
