// Any text must either build and analyse or give an error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/zoo/analysis.h"
#include "kernels/zoo/model_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tinyprof::ModelSpec;
  const std::string text(reinterpret_cast<const char*>(data), size);
  ModelSpec spec{.text = text};
  for (const bool with_input : {false, true}) {
    if (with_input) spec.inputs = {{"", {2, 3, 16, 16}}};
    const auto graph = tinyprof::BuildModel(spec);
    if (!graph) {
      if (graph.error().message.empty()) __builtin_trap();
      continue;
    }
    const auto analysis = tinyprof::Analyze(*graph);
    if (analysis && analysis->totals.flop_count() < 0) __builtin_trap();
  }
  // The flag's parser takes the same text.
  (void)tinyprof::ParseInputFlag(text);
  return 0;
}
