#include "kernels/ops/elementwise/infer.h"

#include <fmt/format.h>

#include <map>
#include <string>

namespace tinyprof {
namespace {

bool IsNumber(DType dtype) { return IsFloat(dtype) || IsIndex(dtype); }

Status CheckNumberInput(const NodeSignature& signature, size_t index, bool bool_too = false) {
  const DType dtype = signature.input(index).dtype;
  if (IsNumber(dtype) || (bool_too && dtype == DType::kBool)) return {};
  return Fail(ErrorCode::kInvalidArgument, "DTYPE_MISMATCH",
              fmt::format("{} wants float32, float64, int32{} int64{} for input {}, got {}",
                          signature.node->op_type, bool_too ? "," : " or",
                          bool_too ? " or bool" : "", index, Name(dtype)));
}

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
  static const std::map<int64_t, DType> kByNumber = {
      {1, DType::kFloat32}, {2, DType::kUInt8}, {3, DType::kInt8},     {6, DType::kInt32},
      {7, DType::kInt64},   {9, DType::kBool},  {11, DType::kFloat64},
  };
  const int64_t to = signature.Int("to", 0);
  const auto found = kByNumber.find(to);
  if (found != kByNumber.end()) return found->second;
  return Fail(ErrorCode::kUnimplemented, "CAST_NOT_SUPPORTED",
              fmt::format("Cast to ONNX data type {} is not supported: wanted 1 (float32), 2 "
                          "(uint8), 3 (int8), 6 (int32), 7 (int64), 9 (bool) or 11 (float64)",
                          to),
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
  return InferUnaryNumber(signature, output_count);
}

Result<Types> InferFold(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_ASSIGN_OR_RETURN(Shape shape, BroadcastInputs(signature));
  return Types{{signature.input(0).dtype, std::move(shape)}};
}

Result<Types> InferPow(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  return InferFold(signature, output_count);
}

Result<Types> InferPRelu(const NodeSignature& signature, size_t output_count) {
  TINYPROF_ASSIGN_OR_RETURN(Types types, InferPow(signature, output_count));
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
  TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0, true));
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
  const DType from = signature.input(0).dtype;
  if (from == DType::kFloat16 || from == DType::kBFloat16) {
    return Fail(ErrorCode::kUnimplemented, "CAST_NOT_SUPPORTED",
                fmt::format("Cast from {} is not supported", Name(from)));
  }
  return Types{{to, signature.input(0).shape}};
}

}  // namespace tinyprof
