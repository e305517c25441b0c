// What to change first about a layer, with what that gives at most. Pure functions.
//
// A remedy changes the layer's FLOPs or bytes, or the ceilings, and with them the bound b to a
// smaller b' (of a pass that is smaller by as much). Of a measured time t the bound
// explains b only (all of it, when the layer was faster than its bound). Where all else stays,
// t - b + b' is left: Amdahl's law at the layer's level. Where the kernel then fits the machine
// perfectly, b' and what starting a layer takes, d, are left, and nothing can give more:
//   speedup      t / max(t - b + b', d + b')       b / b' when t was not measured
//   max_speedup  t / (d + b')                      b / b' when t was not measured
// Another kernel changes no count, so there is only its limit, t / (d + b). A batch, per sample,
// shares d too: t / (t - d), at most t / b' of one sample's activations. All of this holds for the
// algorithm that the FLOPs were counted for; another, as Winograd's, may do with fewer.
//
// t is an interval: speedup is the smaller one of its two ends, so that advice is given only for
// what the whole interval supports, and max_speedup that of its longer end.
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
  // Of this layer, per sample for kBatch; at least kMinSpeedup, finite. Absent for kKernel.
  std::optional<double> speedup;
  double max_speedup = 1;  // at least speedup, finite
  std::string why;         // one sentence
};

// The 95 % confidence interval of a measured time; both ends are positive.
struct TimeInterval {
  double low_ns = 0;
  double high_ns = 0;
};

// What the rules look at. Counts are of the whole invocation, as in Cost.
struct LayerFacts {
  int64_t flop_count = 0;
  int64_t weight_bytes = 0;
  int64_t activation_bytes = 0;  // inputs and outputs
  int64_t weight_element_bytes = 4;
  int64_t pass_bytes = 0;  // as in BoundInput
  int64_t cold_bytes = 0;  // as in BoundInput; where it is none, weights are streamed
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
  bool worth_sharing = true;         // among threads; a layer of too little work stays on one
  std::optional<TimeInterval> time;  // absent: not measured, no advice on kernels
  // What starting a layer like this one takes when it has no work; absent: not measured, no advice
  // on kernels, nor on batches for the sake of starting.
  std::optional<double> dispatch_ns;
};

// Advice worth giving, largest gain first (by speedup, and that of a kernel by its limit). `bound`
// and `ceilings` are what ComputeBound gave and got for this layer. Rules, each with its own
// formula in advice.cc:
//   memory label    quantize, prune, batch (when weights are most of the traffic), fuse, kernel
//   compute label   kernel, prune
//   overhead label  batch
//   any but overhead   kv_cache, threads
// `kernel` is given only where d + b is below kGoodPercent of the time.
std::vector<Advice> AdviseLayer(const LayerFacts& facts, const Bound& bound,
                                const Ceilings& ceilings);
inline constexpr double kMinSpeedup = 1.05;
inline constexpr double kGoodPercent = 60;
// Starting was measured with one kind of kernel, and others start a little faster or slower: of no
// layer it is held to explain more than this share, so that a batch gains at most 10.
inline constexpr double kMostDispatchShare = 0.9;

}  // namespace tinyprof
