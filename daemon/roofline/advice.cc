#include "daemon/roofline/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tinyprof {
namespace {

constexpr double kPrunedShare = 0.5;

class Adviser {
 public:
  Adviser(const LayerFacts& facts, const Bound& bound, const Ceilings& ceilings)
      : facts_(facts), bound_(bound), peak_(ceilings.peak_flops_per_second) {
    for (const LevelCeiling& level : ceilings.levels) {
      if (level.level == bound.level) bandwidth_ = level.bytes_per_second;
    }
  }

  std::vector<Advice> Run() {
    if (bound_.bound_ns <= 0) return {};
    if (bound_.label == BoundLabel::kOverhead) {
      BatchOverhead();
    } else {
      if (bound_.label == BoundLabel::kMemory) {
        Quantize();
        Fuse();
        BatchWeights();
      }
      Prune();
      KvCache();
      Kernel();
      Threads();
    }
    std::stable_sort(advice_.begin(), advice_.end(), [](const Advice& a, const Advice& b) {
      return a.max_speedup > b.max_speedup;
    });
    return std::move(advice_);
  }

 private:
  double flops() const { return static_cast<double>(facts_.flop_count); }
  double weights() const { return static_cast<double>(facts_.weight_bytes); }
  double activations() const { return static_cast<double>(facts_.activation_bytes); }
  bool weights_dominate() const { return facts_.weight_bytes > facts_.activation_bytes; }

  // The bound of other counts under the same ceilings.
  double BoundNs(double flop_count, double byte_count) const {
    return std::max(flop_count / peak_, bandwidth_ > 0 ? byte_count / bandwidth_ : 0) * 1e9;
  }

  double ExplainedFraction() const {
    if (!facts_.elapsed_ns) return 1;
    return std::min(1.0, bound_.bound_ns / *facts_.elapsed_ns);
  }

  void Add(AdviceKind kind, double max_speedup, std::string why) {
    if (max_speedup < kMinSpeedup) return;
    advice_.push_back({kind, max_speedup, std::move(why)});
  }

  void AddFromBound(AdviceKind kind, double new_bound_ns, std::string why) {
    if (new_bound_ns <= 0) return;
    Add(kind, AmdahlSpeedup(ExplainedFraction(), bound_.bound_ns / new_bound_ns), std::move(why));
  }

  void Quantize() {
    if (facts_.weight_bytes == 0 || facts_.weight_element_bytes <= 1) return;
    const double int8_weights = weights() / static_cast<double>(facts_.weight_element_bytes);
    AddFromBound(
        AdviceKind::kQuantize, BoundNs(flops(), int8_weights + activations()),
        fmt::format("weights are {:.0f} % of the bytes that bound this layer; as int8 they are "
                    "{} times smaller",
                    100 * weights() / (weights() + activations()), facts_.weight_element_bytes));
  }

  // The fused layer still writes its output and reads its other inputs.
  void Fuse() {
    if (!facts_.is_elementwise || facts_.fusable_input_bytes <= 0) return;
    const double left = weights() + activations() - static_cast<double>(facts_.fusable_input_bytes);
    AddFromBound(
        AdviceKind::kFuse, BoundNs(flops(), left),
        fmt::format("computed where its input is made, it need not read {} bytes back, and the "
                    "layer before need not write them",
                    facts_.fusable_input_bytes));
  }

  // With ever more samples a pass, each pays for its own activations only.
  void BatchWeights() {
    if (!weights_dominate()) return;
    AddFromBound(
        AdviceKind::kBatch, BoundNs(flops(), activations()),
        "weights are read once for all samples of a pass: with more of them each pays less");
  }

  void BatchOverhead() {
    if (!facts_.elapsed_ns) return;
    Add(AdviceKind::kBatch, *facts_.elapsed_ns / bound_.bound_ns,
        "the layer is too small for the machine's ceilings to matter: more samples a pass share "
        "what "
        "starting it costs");
  }

  void Prune() {
    if (facts_.weight_bytes == 0) return;
    AddFromBound(
        AdviceKind::kPrune,
        BoundNs(kPrunedShare * flops(), kPrunedShare * weights() + activations()),
        "without half of its channels it has half of the FLOPs and weights; what that does to "
        "accuracy must be checked");
  }

  void KvCache() {
    if (facts_.recomputed_positions <= 1) return;
    const auto positions = static_cast<double>(facts_.recomputed_positions);
    AddFromBound(AdviceKind::kKvCache,
                 BoundNs(flops() / positions, weights() + activations() / positions),
                 fmt::format("each token computes {} positions anew; with keys and values kept it "
                             "computes one",
                             facts_.recomputed_positions));
  }

  void Kernel() {
    if (!bound_.percent_of_bound || *bound_.percent_of_bound >= kGoodPercent) return;
    Add(AdviceKind::kKernel, 100 / *bound_.percent_of_bound,
        fmt::format(
            "it runs at {:.0f} % of what {} allows: a kernel that fits this shape better can "
            "come nearer",
            *bound_.percent_of_bound, Name(bound_.limiter)));
  }

  void Threads() {
    if (!facts_.all_threads || facts_.available_threads <= facts_.threads) return;
    const double bytes = weights() + activations();
    double new_bound_ns = flops() / facts_.all_threads->peak_flops_per_second * 1e9;
    for (const LevelCeiling& level : facts_.all_threads->levels) {
      if (level.level != bound_.level) continue;
      new_bound_ns = std::max(new_bound_ns, bytes / level.bytes_per_second * 1e9);
    }
    AddFromBound(AdviceKind::kThreads, new_bound_ns,
                 fmt::format("it used {} of {} cores, and the ceilings of all are higher",
                             facts_.threads, facts_.available_threads));
  }

  const LayerFacts& facts_;
  const Bound& bound_;
  double peak_;
  double bandwidth_ = 0;
  std::vector<Advice> advice_;
};

}  // namespace

std::string_view Name(AdviceKind kind) {
  switch (kind) {
    case AdviceKind::kQuantize:
      return "quantize";
    case AdviceKind::kFuse:
      return "fuse";
    case AdviceKind::kBatch:
      return "batch";
    case AdviceKind::kKvCache:
      return "kv_cache";
    case AdviceKind::kPrune:
      return "prune";
    case AdviceKind::kKernel:
      return "kernel";
    case AdviceKind::kThreads:
      return "threads";
  }
  return "unknown";
}

double AmdahlSpeedup(double fraction, double speedup) {
  return 1 / (1 - fraction + fraction / speedup);
}

std::vector<Advice> AdviseLayer(const LayerFacts& facts, const Bound& bound,
                                const Ceilings& ceilings) {
  return Adviser(facts, bound, ceilings).Run();
}

}  // namespace tinyprof
