#include "daemon/model/tensor_proto.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <fstream>

#include "kernels/base/words.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

using Proto = onnx::TensorProto;
using Bytes = std::vector<std::byte>;

tl::unexpected<Error> Bad(const Proto& proto, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX",
              fmt::format("tensor '{}' {}", proto.name().substr(0, 200), what),
              {{"tensor", proto.name()}});
}

// The bytes of one element in raw_data, or 0 for a type without a fixed size.
size_t StoredBytes(int data_type) {
  switch (data_type) {
    case Proto::INT16:
    case Proto::UINT16:
      return 2;
    case Proto::UINT32:
      return 4;
    case Proto::UINT64:
      return 8;
    default: {
      const std::optional<DType> dtype = DTypeFromOnnx(data_type);
      return dtype ? static_cast<size_t>(ByteSize(*dtype)) : 0;
    }
  }
}

template <class From, class To>
Bytes Widen(const char* data, size_t count) {
  Bytes bytes(count * sizeof(To));
  for (size_t i = 0; i < count; ++i) {
    From stored;
    std::memcpy(&stored, data + i * sizeof(From), sizeof(From));
    const To kept = static_cast<To>(stored);
    std::memcpy(bytes.data() + i * sizeof(To), &kept, sizeof(To));
  }
  return bytes;
}

Bytes FromRaw(int data_type, const std::string& raw, size_t count) {
  switch (data_type) {
    case Proto::INT16:
      return Widen<int16_t, int32_t>(raw.data(), count);
    case Proto::UINT16:
      return Widen<uint16_t, int32_t>(raw.data(), count);
    case Proto::UINT32:
      return Widen<uint32_t, int64_t>(raw.data(), count);
    case Proto::UINT64:
      return Widen<uint64_t, int64_t>(raw.data(), count);
    default: {
      Bytes bytes(raw.size());
      if (!raw.empty()) std::memcpy(bytes.data(), raw.data(), raw.size());
      return bytes;
    }
  }
}

template <class To, class Field>
Bytes FromField(const Field& field) {
  Bytes bytes(static_cast<size_t>(field.size()) * sizeof(To));
  for (int i = 0; i < field.size(); ++i) {
    const To kept = static_cast<To>(field[i]);
    std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof(To), &kept, sizeof(To));
  }
  return bytes;
}

// The elements of the typed field that ONNX prescribes for the type.
Bytes FromTypedField(const Proto& proto) {
  switch (proto.data_type()) {
    case Proto::FLOAT:
      return FromField<float>(proto.float_data());
    case Proto::DOUBLE:
      return FromField<double>(proto.double_data());
    case Proto::INT64:
      return FromField<int64_t>(proto.int64_data());
    case Proto::UINT32:
    case Proto::UINT64:
      return FromField<int64_t>(proto.uint64_data());
    case Proto::INT32:
    case Proto::INT16:
    case Proto::UINT16:
      return FromField<int32_t>(proto.int32_data());
    case Proto::FLOAT16:
    case Proto::BFLOAT16:
      return FromField<uint16_t>(proto.int32_data());
    default:  // int8, uint8, bool
      return FromField<uint8_t>(proto.int32_data());
  }
}

}  // namespace

TensorData IntegerScalar(DType dtype, int64_t value) {
  auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(ByteSize(dtype)));
  if (dtype == DType::kInt32) {
    const auto narrow = static_cast<int32_t>(value);
    std::memcpy(bytes->data(), &narrow, sizeof(narrow));
  } else {
    std::memcpy(bytes->data(), &value, sizeof(value));
  }
  return {"", {dtype, Shape()}, std::move(bytes)};
}

int OnnxDataType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return Proto::FLOAT;
    case DType::kFloat64:
      return Proto::DOUBLE;
    case DType::kFloat16:
      return Proto::FLOAT16;
    case DType::kBFloat16:
      return Proto::BFLOAT16;
    case DType::kInt8:
      return Proto::INT8;
    case DType::kUInt8:
      return Proto::UINT8;
    case DType::kInt32:
      return Proto::INT32;
    case DType::kInt64:
      return Proto::INT64;
    case DType::kBool:
      return Proto::BOOL;
  }
  return Proto::UNDEFINED;
}

std::optional<DType> DTypeFromOnnx(int data_type) {
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
        DType::kUInt8, DType::kInt32, DType::kInt64, DType::kBool}) {
    if (OnnxDataType(dtype) == data_type) return dtype;
  }
  return std::nullopt;
}

std::optional<DType> KeptDType(int data_type) {
  if (data_type == Proto::INT16 || data_type == Proto::UINT16) return DType::kInt32;
  if (data_type == Proto::UINT32 || data_type == Proto::UINT64) return DType::kInt64;
  return DTypeFromOnnx(data_type);
}

Result<TensorData> TensorFromProto(const Proto& proto) {
  if (proto.data_location() == Proto::EXTERNAL || proto.external_data_size() > 0) {
    return Fail(ErrorCode::kUnimplemented, "EXTERNAL_DATA",
                fmt::format("tensor '{}' keeps its data in another file: save the model with all "
                            "data in the .onnx file",
                            proto.name().substr(0, 200)));
  }
  const std::optional<DType> dtype = KeptDType(proto.data_type());
  if (!dtype) {
    return Fail(ErrorCode::kUnimplemented, "DTYPE_NOT_SUPPORTED",
                fmt::format("tensor '{}' has ONNX data type {}, which is not supported",
                            proto.name().substr(0, 200), proto.data_type()));
  }
  Result<Shape> shape = Shape::Create({proto.dims().begin(), proto.dims().end()});
  if (!shape) return Bad(proto, fmt::format("has a bad shape: {}", shape.error().message));
  if (proto.has_segment())
    return Bad(proto, "is stored in segments, which ONNX does not allow here");

  const auto count = static_cast<size_t>(shape->element_count());
  TensorData tensor{proto.name(), {*dtype, *std::move(shape)}, nullptr};
  if (proto.has_raw_data() && proto.raw_data().size() != count * StoredBytes(proto.data_type())) {
    return Bad(proto,
               fmt::format("is {} but has {} of data, wanted {}", tensor.type.shape.ToString(),
                           Counted(static_cast<int64_t>(proto.raw_data().size()), "byte"),
                           count * StoredBytes(proto.data_type())));
  }
  Bytes bytes = proto.has_raw_data() ? FromRaw(proto.data_type(), proto.raw_data(), count)
                                     : FromTypedField(proto);
  if (bytes.size() != count * static_cast<size_t>(ByteSize(*dtype))) {
    return Bad(proto, fmt::format(
                          "is {} but has {}, wanted {}", tensor.type.shape.ToString(),
                          Counted(static_cast<int64_t>(bytes.size()) / ByteSize(*dtype), "element"),
                          count));
  }
  tensor.bytes = std::make_shared<const Bytes>(std::move(bytes));
  return tensor;
}

Result<TensorData> ReadTensorFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Fail(ErrorCode::kNotFound, "NO_FILE", fmt::format("cannot open {}", path),
                {{"path", path}});
  }
  Proto proto;
  if (!proto.ParseFromIstream(&file)) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX",
                fmt::format("{} is no ONNX TensorProto", path), {{"path", path}});
  }
  return TensorFromProto(proto);
}

Status WriteTensorFile(const std::string& path, const TensorData& tensor) {
  Proto proto;
  proto.set_name(tensor.name);
  proto.set_data_type(OnnxDataType(tensor.type.dtype));
  for (const int64_t dim : tensor.type.shape.dims()) proto.add_dims(dim);
  proto.set_raw_data(tensor.bytes->data(), tensor.bytes->size());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file || !proto.SerializeToOstream(&file) || !file.flush()) {
    return Fail(ErrorCode::kPermissionDenied, "CANNOT_WRITE", fmt::format("cannot write {}", path),
                {{"path", path}});
  }
  return {};
}

}  // namespace tinyprof
