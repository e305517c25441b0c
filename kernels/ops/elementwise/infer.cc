#include "kernels/ops/elementwise/infer.h"

#include <fmt/format.h>

#include <string>

#include "kernels/ops/dtypes.h"
#include "kernels/ops/onnx_types.h"

namespace tinyprof {
namespace {

// The broadcast of all inputs, of which none may be left out.
Result<Shape> BroadcastInputs(const NodeSignature& signature) {
  Shape shape;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    if (!signature.has_input(i)) {
      return Fail(
          ErrorCode::kInvalidArgument, "BAD_INPUT_COUNT",
          fmt::format("{} has no input {}: it must not be left out", signature.node->op_type, i));
    }
    TINYPROF_RETURN_IF_ERROR(CheckRank(signature, i, 0));
    Result<Shape> joined = Broadcast(shape, signature.input(i).shape);
    if (!joined) {
      return ShapeMismatch(signature, fmt::format("input {}: {}", i, joined.error().message));
    }
    shape = *std::move(joined);
  }
  return shape;
}

Status CheckOneElement(const NodeSignature& signature, size_t index, std::string_view what) {
  if (!signature.has_input(index) || signature.input(index).shape.element_count() == 1) return {};
  return ShapeMismatch(signature, fmt::format("{} has shape {}, wanted one element", what,
                                              signature.input(index).shape.ToString()));
}

Result<DType> CastTarget(const NodeSignature& signature) {
  const int64_t to = signature.Int("to", 0);
  if (const std::optional<DType> dtype = DTypeOfOnnxNumber(to)) return *dtype;
  return Fail(ErrorCode::kUnimplemented, "CAST_NOT_SUPPORTED",
              fmt::format("Cast to ONNX data type {} is not supported", to),
              {{"to", std::to_string(to)}});
}

}  // namespace

Result<Types> InferUnaryFloat(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  return Types{signature.input(0)};
}

Result<Types> InferUnaryNumber(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0));
  return Types{signature.input(0)};
}

Result<Types> InferNot(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckBoolInput(signature, 0));
  return Types{signature.input(0)};
}

Result<Types> InferGelu(const NodeSignature& signature, size_t output_count) {
  const std::string approximate = signature.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    return BadAttribute(
        signature, fmt::format("approximate is \"{}\", wanted \"none\" or \"tanh\"", approximate));
  }
  return InferUnaryFloat(signature, output_count);
}

Result<Types> InferSwish(const NodeSignature& signature, size_t output_count) {
  const float alpha = signature.Float("alpha", 1);
  if (alpha != 1.0F) {
    return Fail(ErrorCode::kUnimplemented, "ATTRIBUTE_NOT_SUPPORTED",
                fmt::format("Swish with alpha {} is not supported, only with 1", alpha));
  }
  return InferUnaryFloat(signature, output_count);
}

Result<Types> InferClip(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_RETURN_IF_ERROR(CheckOneElement(signature, 1, "min"));
  TINYPROF_RETURN_IF_ERROR(CheckOneElement(signature, 2, "max"));
  const bool has_attributes = signature.has_attribute("min") || signature.has_attribute("max");
  if (has_attributes && !IsFloating(signature.input(0).dtype)) {
    return BadAttribute(signature, "bounds of integers are inputs");
  }
  return InferUnaryNumber(signature, output_count);
}

Result<Types> InferFold(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_ASSIGN_OR_RETURN(Shape shape, BroadcastInputs(signature));
  return Types{{signature.input(0).dtype, std::move(shape)}};
}

Result<Types> InferMean(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  return InferFold(signature, output_count);
}

Result<Types> InferMod(const NodeSignature& signature, size_t output_count) {
  if (IsFloating(signature.input(0).dtype) && signature.Int("fmod", 0) == 0) {
    return BadAttribute(signature, "floats need fmod = 1");
  }
  return InferFold(signature, output_count);
}

Result<Types> InferBitShift(const NodeSignature& signature, size_t output_count) {
  const std::string direction = signature.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return BadAttribute(signature, "direction must be LEFT or RIGHT");
  }
  if (IsFloating(signature.input(0).dtype)) {
    return Fail(ErrorCode::kInvalidArgument, "DTYPE_MISMATCH", "BitShift wants integers");
  }
  return InferFold(signature, output_count);
}

Result<Types> InferIsFloatClass(const NodeSignature& signature, size_t output_count) {
  TINYPROF_ASSIGN_OR_RETURN(Types types, InferUnaryFloat(signature, output_count));
  types[0].dtype = DType::kBool;
  return types;
}

Result<Types> InferPRelu(const NodeSignature& signature, size_t output_count) {
  TINYPROF_ASSIGN_OR_RETURN(Types types, InferMean(signature, output_count));
  if (types[0].shape != signature.input(0).shape) {
    return ShapeMismatch(
        signature,
        fmt::format("slope of shape {} cannot be broadcast to the data's {}",
                    signature.input(1).shape.ToString(), signature.input(0).shape.ToString()));
  }
  return types;
}

Result<Types> InferCompare(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_ASSIGN_OR_RETURN(Shape shape, BroadcastInputs(signature));
  return Types{{DType::kBool, std::move(shape)}};
}

Result<Types> InferLogical(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckBoolInput(signature, 0));
  return InferCompare(signature, output_count);
}

Result<Types> InferWhere(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckBoolInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 1, 2));
  TINYPROF_ASSIGN_OR_RETURN(Shape shape, BroadcastInputs(signature));
  return Types{{signature.input(1).dtype, std::move(shape)}};
}

Result<Types> InferIdentity(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  return Types{signature.input(0)};
}

Result<Types> InferDropout(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 2));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckOneElement(signature, 2, "training_mode"));
  if (signature.has_input(2)) {
    TINYPROF_RETURN_IF_ERROR(CheckBoolInput(signature, 2));
    const auto* training = static_cast<const uint8_t*>(signature.inputs[2].data);
    if (training == nullptr || *training != 0) {
      return Fail(ErrorCode::kUnimplemented, "TRAINING_NOT_SUPPORTED",
                  "Dropout in training mode is not supported: export the model for inference");
    }
  }
  Types types{signature.input(0)};
  if (output_count == 2) types.push_back({DType::kBool, signature.input(0).shape});
  return types;
}

Result<Types> InferCast(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const DType to, CastTarget(signature));
  return Types{{to, signature.input(0).shape}};
}

}  // namespace tinyprof
