// ONNX TensorProto: the elements of initializers and the input_N.pb / output_N.pb files of tests.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/tensor/shape.h"

namespace onnx {
class TensorProto;
}

namespace tinyprof {

// A tensor that owns its elements, row-major.
struct TensorData {
  std::string name;
  TensorType type;
  std::shared_ptr<const std::vector<std::byte>> bytes;  // type.byte_size() of them
};

// The scalar `value` of int32 or int64.
TensorData IntegerScalar(DType dtype, int64_t value);

// INVALID_ARGUMENT / "BAD_ONNX" when shape and data disagree; UNIMPLEMENTED / "EXTERNAL_DATA" or
// "DTYPE_NOT_SUPPORTED". int16, uint16, uint32 and uint64 become int32 or int64.
Result<TensorData> TensorFromProto(const onnx::TensorProto& proto);

// One TensorProto file.
Result<TensorData> ReadTensorFile(const std::string& path);
Status WriteTensorFile(const std::string& path, const TensorData& tensor);

// ONNX's number for a dtype, and back; nothing for one that tinyprof does not have.
int OnnxDataType(DType dtype);
std::optional<DType> DTypeFromOnnx(int data_type);
// The dtype that elements of ONNX's type are kept in: its own, or for int16, uint16, uint32 and
// uint64 the wider one that TensorFromProto makes of it.
std::optional<DType> KeptDType(int data_type);

}  // namespace tinyprof
