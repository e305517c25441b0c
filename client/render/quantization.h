// How a quantized model compares with the float32 one: the report of `quantize`, and the lines that
// other commands have of a model that was quantized.
#pragma once

#include <string>
#include <vector>

#include "client/render/json.h"
#include "client/render/people.h"
#include "tinyprof/v1/service.pb.h"

namespace tinyprof::client {

// The file that `quantize` wrote.
struct QuantizedFileInfo {
  std::string path;  // "-": standard output
  int64_t size_bytes = 0;
  // The flags that gave the float32 model its shapes and weights; the file has both in it.
  std::vector<std::string> model_flags = {};
};

std::string QuantizationText(const v1::QuantizationReport& report, const QuantizedFileInfo& file,
                             const Layout& layout);
Json QuantizationDocument(const v1::QuantizationReport& report, const QuantizedFileInfo& file);

// "int8 of resnet18 (static), SQNR 31.2 dB".
std::string QuantizationSummary(const v1::Quantization& quantization);
// One line of what the file says: weights before and after, error.
std::string QuantizationLine(const v1::Quantization& quantization);
// The same as JSON; null for a model that was not quantized.
Json QuantizationJson(bool present, const v1::Quantization& quantization);

}  // namespace tinyprof::client
