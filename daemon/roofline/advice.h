// What to change first about a layer, with an upper limit of the gain. Pure functions.
//
// A remedy changes the layer's FLOPs or bytes, or the ceilings, and with them the bound from
// bound_ns to a smaller one; s = bound_ns / new bound. The bound explains only the fraction f =
// bound_ns / elapsed_ns of the measured time (f = 1 when it was not measured, or was faster than
// the bound), so by Amdahl's law at the layer's level the gain is at most 1 / (1 - f + f / s).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/roofline/bounds.h"

namespace tinyprof {

enum class AdviceKind {
  kQuantize,  // weights as int8
  kFuse,      // compute an element-wise layer where its input is made
  kBatch,     // more samples a pass share the weights, and the cost of starting kernels
  kKvCache,   // keep keys and values instead of recomputing the whole context for each token
  kPrune,     // leave out half of the channels
  kKernel,    // another implementation
  kThreads,   // more cores
};
// "quantize", "fuse", "batch", "kv_cache", "prune", "kernel", "threads".
std::string_view Name(AdviceKind kind);

struct Advice {
  AdviceKind kind = AdviceKind::kKernel;
  double max_speedup = 1;  // at least kMinSpeedup, finite; of this layer, per sample for kBatch
  std::string why;         // one sentence
};

// What the rules look at. Counts are of the whole invocation, as in Cost.
struct LayerFacts {
  int64_t flop_count = 0;
  int64_t weight_bytes = 0;
  int64_t activation_bytes = 0;  // inputs and outputs
  int64_t weight_element_bytes = 4;
  bool is_elementwise = false;
  // Of activation_bytes, the input that one earlier layer makes for this one only.
  int64_t fusable_input_bytes = 0;
  // Positions that are computed anew for each generated token; 1 for one that has a cache of keys
  // and values, or generates nothing.
  int64_t recomputed_positions = 1;
  int threads = 1;
  int available_threads = 1;
  // Ceilings of all available threads; absent: not measured, no advice on threads.
  std::optional<Ceilings> all_threads;
  std::optional<double> elapsed_ns;
};

// Advice worth giving, largest gain first. `bound` and `ceilings` are what ComputeBound gave and
// got for this layer. Rules, each with its own formula in advice.cc:
//   memory label    quantize, prune, batch (when weights are most of the traffic), fuse, kernel
//   compute label   kernel, prune
//   overhead label  batch
//   any but overhead   kv_cache, threads
// `kernel` is given below kGoodPercent of the bound only.
std::vector<Advice> AdviseLayer(const LayerFacts& facts, const Bound& bound,
                                const Ceilings& ceilings);
inline constexpr double kMinSpeedup = 1.05;
inline constexpr double kGoodPercent = 60;

// 1 / (1 - f + f / s) for a fraction f of 0 to 1 made s >= 1 times as fast.
double AmdahlSpeedup(double fraction, double speedup);

}  // namespace tinyprof
