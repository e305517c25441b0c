// Any file must either become a graph that analyses or give an error with a message.
#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/model/onnx_import.h"
#include "kernels/zoo/analysis.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  const auto graph = tinyprof::ImportOnnx(file, {.name = "fuzz"});
  if (!graph) {
    if (graph.error().message.empty()) __builtin_trap();
    return 0;
  }
  const auto analysis = tinyprof::Analyze(*graph);
  if (analysis && analysis->totals.flop_count() < 0) __builtin_trap();
  return 0;
}
