// Element types of tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tinyprof {

enum class DType : uint8_t {
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,
  kInt8,
  kUInt8,
  kInt32,
  kInt64,
  kBool,
};

// Bytes of one element.
int64_t ByteSize(DType dtype);

// The name used in JSON and tables, as NumPy spells it: "float32", "int64", ...
std::string_view Name(DType dtype);

// The dtype of that name, or nothing.
std::optional<DType> DTypeFromName(std::string_view name);

}  // namespace tinyprof
