#include "daemon/model/tensor_proto.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

using Proto = onnx::TensorProto;

template <class T>
std::vector<T> Elements(const TensorData& tensor) {
  std::vector<T> elements(tensor.bytes->size() / sizeof(T));
  std::memcpy(elements.data(), tensor.bytes->data(), tensor.bytes->size());
  return elements;
}

Proto Vector(int data_type, int64_t count) {
  Proto proto;
  proto.set_name("t");
  proto.set_data_type(data_type);
  proto.add_dims(count);
  return proto;
}

TEST(TensorProtoTest, ReadsTypedFields) {
  Proto floats = Vector(Proto::FLOAT, 2);
  floats.add_float_data(1.5F);
  floats.add_float_data(-2);
  EXPECT_EQ(Elements<float>(*TensorFromProto(floats)), (std::vector<float>{1.5F, -2}));
  Proto bools = Vector(Proto::BOOL, 2);
  bools.add_int32_data(1);
  bools.add_int32_data(0);
  EXPECT_EQ(Elements<uint8_t>(*TensorFromProto(bools)), (std::vector<uint8_t>{1, 0}));
  Proto bytes = Vector(Proto::INT8, 1);
  bytes.add_int32_data(-5);
  EXPECT_EQ(Elements<int8_t>(*TensorFromProto(bytes)), (std::vector<int8_t>{-5}));
  Proto halves = Vector(Proto::FLOAT16, 1);
  halves.add_int32_data(0x3C00);
  EXPECT_EQ(Elements<uint16_t>(*TensorFromProto(halves)), (std::vector<uint16_t>{0x3C00}));
  Proto doubles = Vector(Proto::DOUBLE, 1);
  doubles.add_double_data(0.1);
  EXPECT_EQ(Elements<double>(*TensorFromProto(doubles)), (std::vector<double>{0.1}));
  Proto unsigneds = Vector(Proto::UINT32, 1);
  unsigneds.add_uint64_data(4000000000);
  EXPECT_EQ(Elements<int64_t>(*TensorFromProto(unsigneds)), (std::vector<int64_t>{4000000000}));
}

TEST(TensorProtoTest, ReadsAndWidensRawData) {
  Proto shorts = Vector(Proto::INT16, 2);
  const int16_t data[] = {-3, 7};
  shorts.set_raw_data(data, sizeof(data));
  const Result<TensorData> tensor = TensorFromProto(shorts);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(tensor->type.dtype, DType::kInt32);
  EXPECT_EQ(Elements<int32_t>(*tensor), (std::vector<int32_t>{-3, 7}));
}

TEST(TensorProtoTest, EmptyAndScalarTensors) {
  EXPECT_EQ(TensorFromProto(Vector(Proto::FLOAT, 0))->type.shape, (Shape{0}));
  Proto scalar;
  scalar.set_data_type(Proto::INT64);
  scalar.add_int64_data(9);
  EXPECT_EQ(TensorFromProto(scalar)->type.shape, Shape());
}

TEST(TensorProtoTest, DisagreementIsAnError) {
  Proto few = Vector(Proto::FLOAT, 3);
  few.add_float_data(1);
  EXPECT_EQ(TensorFromProto(few).error().reason, "BAD_ONNX");
  Proto raw = Vector(Proto::FLOAT, 1);
  raw.set_raw_data("abc");
  EXPECT_EQ(TensorFromProto(raw).error().reason, "BAD_ONNX");
  EXPECT_EQ(TensorFromProto(Vector(Proto::FLOAT, int64_t{1} << 39)).error().reason, "BAD_ONNX");
  EXPECT_EQ(TensorFromProto(Vector(Proto::FLOAT, INT64_MAX)).error().reason, "BAD_ONNX");
  EXPECT_EQ(TensorFromProto(Vector(Proto::FLOAT, -1)).error().reason, "BAD_ONNX");
  EXPECT_EQ(TensorFromProto(Vector(Proto::UNDEFINED, 1)).error().reason, "DTYPE_NOT_SUPPORTED");
  EXPECT_EQ(TensorFromProto(Vector(77, 1)).error().reason, "DTYPE_NOT_SUPPORTED");
}

TEST(TensorProtoTest, DTypesMapBothWays) {
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
        DType::kUInt8, DType::kInt32, DType::kInt64, DType::kBool}) {
    EXPECT_EQ(DTypeFromOnnx(OnnxDataType(dtype)), dtype);
  }
  EXPECT_FALSE(DTypeFromOnnx(0).has_value());
}

TEST(TensorProtoTest, FilesRoundTrip) {
  const std::string path = testing::TempDir() + "/tensor_proto_test.pb";
  const auto bytes = std::make_shared<std::vector<std::byte>>(12);
  (*bytes)[5] = std::byte{42};
  const TensorData tensor{"out", {DType::kFloat32, Shape{3, 1}}, bytes};
  ASSERT_TRUE(WriteTensorFile(path, tensor).has_value());
  const Result<TensorData> read = ReadTensorFile(path);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->name, "out");
  EXPECT_EQ(read->type, tensor.type);
  EXPECT_EQ(*read->bytes, *bytes);

  std::ofstream(path, std::ios::trunc) << "no tensor at all";
  EXPECT_FALSE(ReadTensorFile(path).has_value());
  EXPECT_EQ(ReadTensorFile(path + ".missing").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(WriteTensorFile("/nonexistent/directory/t.pb", tensor).has_value());
}

}  // namespace
}  // namespace tinyprof
