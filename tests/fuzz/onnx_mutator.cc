// Lets libFuzzer change ONNX models as models, not as bytes.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "reflected_onnx.pb.h"
#include "tests/fuzz/message_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace tinyprof {
namespace {

bool Parse(const uint8_t* data, size_t size, reflected_onnx::ModelProto& model) {
  return model.ParseFromArray(data, static_cast<int>(size));
}

// 0 when it does not fit.
size_t Write(const reflected_onnx::ModelProto& model, uint8_t* data, size_t max_size) {
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > max_size) return 0;
  bytes.copy(reinterpret_cast<char*>(data), bytes.size());
  return bytes.size();
}

}  // namespace
}  // namespace tinyprof

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  // The library would tell of every string that is no UTF-8.
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::mt19937_64 random(seed);
  reflected_onnx::ModelProto model;
  // The parser has to be met with damaged files, too.
  if (random() % 16 == 0 || !tinyprof::Parse(data, size, model)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  tinyprof::MutateMessage(model, random);
  return tinyprof::Write(model, data, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size,
                                            const uint8_t* second, size_t second_size, uint8_t* out,
                                            size_t max_out_size, unsigned int seed) {
  std::mt19937_64 random(seed);
  reflected_onnx::ModelProto model;
  reflected_onnx::ModelProto other;
  if (!tinyprof::Parse(first, first_size, model) || !tinyprof::Parse(second, second_size, other)) {
    return 0;
  }
  tinyprof::CrossMessages(model, other, random);
  return tinyprof::Write(model, out, max_out_size);
}
