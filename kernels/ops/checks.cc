#include "kernels/ops/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernels/ops/dtypes.h"

namespace tinyprof {
namespace {

tl::unexpected<Error> DTypeMismatch(const NodeSignature& signature, size_t index,
                                    std::string_view wanted) {
  const std::string_view got = Name(signature.input(index).dtype);
  return Fail(
      ErrorCode::kInvalidArgument, "DTYPE_MISMATCH",
      fmt::format("{} wants {} for input {}, got {}", signature.node->op_type, wanted, index, got),
      {{"input", std::to_string(index)}, {"got", std::string(got)}});
}

}  // namespace

tl::unexpected<Error> ShapeMismatch(const NodeSignature& signature, std::string message) {
  return Fail(ErrorCode::kInvalidArgument, "SHAPE_MISMATCH",
              fmt::format("{}: {}", signature.node->op_type, message));
}

tl::unexpected<Error> BadAttribute(const NodeSignature& signature, std::string message) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_ATTRIBUTE",
              fmt::format("{}: {}", signature.node->op_type, message));
}

Status CheckFloatInput(const NodeSignature& signature, size_t index) {
  if (IsFloating(signature.input(index).dtype)) return {};
  return DTypeMismatch(signature, index, "a floating-point type");
}

Status CheckNumberInput(const NodeSignature& signature, size_t index) {
  if (IsNumber(signature.input(index).dtype)) return {};
  return DTypeMismatch(signature, index, "a number");
}

Status CheckSameDType(const NodeSignature& signature, size_t like, size_t first) {
  const DType wanted = signature.input(like).dtype;
  for (size_t i = first; i < signature.inputs.size(); ++i) {
    if (signature.has_input(i) && signature.input(i).dtype != wanted) {
      return DTypeMismatch(signature, i, Name(wanted));
    }
  }
  return {};
}

Status CheckBoolInput(const NodeSignature& signature, size_t index) {
  if (signature.input(index).dtype == DType::kBool) return {};
  return DTypeMismatch(signature, index, "bool");
}

Status CheckIndexInput(const NodeSignature& signature, size_t index) {
  if (IsIndex(signature.input(index).dtype)) return {};
  return DTypeMismatch(signature, index, "int32 or int64");
}

Status CheckKnownIndices(const NodeSignature& signature, size_t index,
                         const std::vector<int64_t>& lengths) {
  const std::optional<std::vector<int64_t>> indices = signature.ConstantInts(index);
  if (!indices || lengths.empty()) return {};
  for (size_t i = 0; i < indices->size(); ++i) {
    const int64_t length = lengths[i % lengths.size()];
    const int64_t at = (*indices)[i];
    if (at >= -length && at < length) continue;
    return ShapeMismatch(
        signature, fmt::format("index {} is out of the range of the {} there are", at, length));
  }
  return {};
}

Status CheckInputShape(const NodeSignature& signature, size_t index, std::string_view what,
                       const Shape& wanted) {
  if (!signature.has_input(index) || signature.input(index).shape == wanted) return {};
  return ShapeMismatch(signature,
                       fmt::format("{} has shape {}, wanted {}", what,
                                   signature.input(index).shape.ToString(), wanted.ToString()));
}

Status CheckRank(const NodeSignature& signature, size_t index, size_t minimum, size_t maximum) {
  const Shape& shape = signature.input(index).shape;
  if (shape.rank() >= minimum && shape.rank() <= maximum) return {};
  const std::string wanted =
      minimum == maximum ? std::to_string(minimum) : fmt::format("{} to {}", minimum, maximum);
  return ShapeMismatch(signature, fmt::format("input {} has shape {} with {} dimensions, wanted {}",
                                              index, shape.ToString(), shape.rank(), wanted));
}

Status CheckOutputCount(const NodeSignature& signature, size_t output_count, size_t minimum,
                        size_t maximum) {
  if (output_count >= minimum && output_count <= maximum) return {};
  return Fail(ErrorCode::kInvalidArgument, "BAD_OUTPUT_COUNT",
              fmt::format("{} gives {} to {} outputs, {} were asked for", signature.node->op_type,
                          minimum, maximum, output_count));
}

Result<size_t> NormalizeAxis(const NodeSignature& signature, int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis >= -count && axis < count) return static_cast<size_t>(axis < 0 ? axis + count : axis);
  return Fail(ErrorCode::kInvalidArgument, "BAD_AXIS",
              fmt::format("{}: axis {} is outside of [-{}, {}), the axes of a tensor with {} "
                          "dimensions",
                          signature.node->op_type, axis, rank, rank, rank),
              {{"axis", std::to_string(axis)}});
}

Result<std::vector<size_t>> NormalizeAxes(const NodeSignature& signature,
                                          const std::vector<int64_t>& axes, size_t rank) {
  std::vector<size_t> normalized;
  for (const int64_t axis : axes) {
    TINYPROF_ASSIGN_OR_RETURN(const size_t position, NormalizeAxis(signature, axis, rank));
    if (std::find(normalized.begin(), normalized.end(), position) != normalized.end()) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_AXIS",
                  fmt::format("{}: axis {} is named twice", signature.node->op_type, axis),
                  {{"axis", std::to_string(axis)}});
    }
    normalized.push_back(position);
  }
  std::sort(normalized.begin(), normalized.end());
  return normalized;
}

Result<std::vector<int64_t>> KnownInts(const NodeSignature& signature, size_t index,
                                       std::string_view what) {
  TINYPROF_RETURN_IF_ERROR(CheckIndexInput(signature, index));
  // An empty list is known by its shape.
  if (signature.input(index).shape.element_count() == 0) return std::vector<int64_t>{};
  if (auto elements = signature.ConstantInts(index)) return *std::move(elements);
  return Fail(ErrorCode::kUnimplemented, "SHAPE_NOT_KNOWN",
              fmt::format("{} needs its {} (input {}) before the run: make it an initializer of "
                          "the model",
                          signature.node->op_type, what, index),
              {{"input", std::to_string(index)}});
}

Result<std::vector<int64_t>> KnownInts(const NodeSignature& signature, std::string_view attribute,
                                       size_t index, std::string_view what) {
  if (signature.has_attribute(attribute)) return signature.Ints(attribute, {});
  if (signature.has_input(index)) return KnownInts(signature, index, what);
  return Fail(ErrorCode::kInvalidArgument, "BAD_ATTRIBUTE",
              fmt::format("{} has neither an attribute {} nor an input {} that says its {}",
                          signature.node->op_type, attribute, index, what));
}

}  // namespace tinyprof
