#include "kernels/tensor/dtype.h"

#include <array>

#include "kernels/base/check.h"

namespace tinyprof {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int64_t byte_size;
};

constexpr std::array<DTypeRow, 9> kDTypes = {{
    {DType::kFloat32, "float32", 4},
    {DType::kFloat64, "float64", 8},
    {DType::kFloat16, "float16", 2},
    {DType::kBFloat16, "bfloat16", 2},
    {DType::kInt8, "int8", 1},
    {DType::kUInt8, "uint8", 1},
    {DType::kInt32, "int32", 4},
    {DType::kInt64, "int64", 8},
    {DType::kBool, "bool", 1},
}};

const DTypeRow& Row(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  TINYPROF_CHECK(index < kDTypes.size() && kDTypes[index].dtype == dtype);
  return kDTypes[index];
}

}  // namespace

int64_t ByteSize(DType dtype) { return Row(dtype).byte_size; }

std::string_view Name(DType dtype) { return Row(dtype).name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace tinyprof
