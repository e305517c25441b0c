// Which nodes of a network can be quantized, and why the others cannot.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kernels/graph/graph.h"

namespace tinyprof {

enum class QuantizationMode {
  kStatic,   // ranges of activations are known before the run
  kDynamic,  // they are looked up in each pass
};
// "static", "dynamic".
std::string_view Name(QuantizationMode mode);

// Whether `node` multiplies by weights, so that it is one that people expect to be quantized.
bool IsCandidate(const Node& node);

// Why `node`, a candidate, stays float32; empty when it does not. Wanted are float32 activations, a
// constant and finite weight whose sums of products of 8-bit numbers fit int32, and a constant
// bias.
std::string WhyNotQuantizable(const Graph& graph, const Node& node);

}  // namespace tinyprof
