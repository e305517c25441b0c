#include "kernels/quantization/samples.h"

namespace tinyprof {

void FillSample(Session& session, uint64_t seed, int64_t index) {
  // Odd multipliers, so that no two samples, seeds or inputs give the same fill. What the value's
  // own seed is made of (its name, or its place in a file) is not the same in an exported model.
  constexpr uint64_t kOfInput = 0xA0761D6478BD642FULL;
  constexpr uint64_t kOfSeed = 0x9E3779B97F4A7C15ULL;
  constexpr uint64_t kOfSample = 0xD1342543DE82EF95ULL;
  const Graph& graph = session.graph();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs[i]);
    Fill fill = value.fill;
    fill.seed = (i + 1) * kOfInput + seed * kOfSeed + static_cast<uint64_t>(index) * kOfSample;
    const TensorView target = session.input(i);
    Materialize(fill, value.type.dtype, 0, target.element_count(), target.data);
  }
}

}  // namespace tinyprof
