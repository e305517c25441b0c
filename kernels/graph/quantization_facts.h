// What is known of a network that was quantized: it travels in its ONNX file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tinyprof {

struct QuantizationFacts {
  std::string from;  // the float32 model
  std::string mode;  // "static" or "dynamic"; empty: not known
  // Bytes of all initializers, each once, before and after.
  std::optional<int64_t> float_weight_bytes;
  std::optional<int64_t> quantized_weight_bytes;
  // Of the output with the largest relative error, as OutputError of
  // kernels/quantization/output_error.h; absent where that is, or where the file does not tell.
  std::optional<double> max_abs_error;
  std::optional<double> relative_rms_error;
  std::optional<double> sqnr_db;
  std::optional<double> top1_agreement;
};

}  // namespace tinyprof
