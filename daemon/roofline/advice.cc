#include "daemon/roofline/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/base/words.h"

namespace tinyprof {
namespace {

constexpr double kPrunedShare = 0.5;

// "47", "1.2", "less than 0.01".
std::string PercentText(double percent) {
  if (percent < 0.01) return "less than 0.01";
  return percent < 10 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent);
}

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

  double dispatch_ns() const { return facts_.dispatch_ns.value_or(0); }

  void Add(AdviceKind kind, double max_speedup, std::string why) {
    if (max_speedup < kMinSpeedup) return;
    advice_.push_back({kind, max_speedup, std::move(why)});
  }

  // The gain where `elapsed_ns` was measured.
  double GainFromBound(double new_bound_ns, double elapsed_ns) const {
    const double explained_ns = std::min(bound_.bound_ns, elapsed_ns);
    const double left_ns = explained_ns * new_bound_ns / bound_.bound_ns;
    return elapsed_ns / std::max(elapsed_ns - explained_ns + left_ns, dispatch_ns() + left_ns);
  }

  void AddFromBound(AdviceKind kind, double new_bound_ns, std::string why) {
    if (new_bound_ns <= 0) return;
    // Up to b + d the gain grows with the time, and beyond it falls: an end is the smallest.
    const double gain = facts_.time ? std::min(GainFromBound(new_bound_ns, facts_.time->low_ns),
                                               GainFromBound(new_bound_ns, facts_.time->high_ns))
                                    : bound_.bound_ns / new_bound_ns;
    Add(kind, gain, std::move(why));
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
    AddFromBound(AdviceKind::kFuse, BoundNs(flops(), left),
                 fmt::format("computed where its input is made, it need not read {} back, and the "
                             "layer before need not write them",
                             SizeText(facts_.fusable_input_bytes)));
  }

  // With ever more samples a pass, each pays for its own activations only.
  void BatchWeights() {
    if (!weights_dominate()) return;
    AddFromBound(
        AdviceKind::kBatch, BoundNs(flops(), activations()),
        "weights are read once for all samples of a pass: with more of them each pays less");
  }

  void BatchOverhead() {
    if (!facts_.time || !facts_.dispatch_ns) return;
    const double share = std::min(*facts_.dispatch_ns / facts_.time->high_ns, kMostDispatchShare);
    Add(AdviceKind::kBatch, 1 / (1 - share),
        fmt::format("starting the layer is {:.0f} % of its time or more, and more samples a pass "
                    "share that",
                    100 * share));
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
    if (!facts_.time || !facts_.dispatch_ns || !bound_.percent_of_bound) return;
    const double reachable_ns = *facts_.dispatch_ns + bound_.bound_ns;
    if (100 * reachable_ns >= kGoodPercent * facts_.time->low_ns) return;
    const std::string start =
        *facts_.dispatch_ns < bound_.bound_ns
            ? ""
            : fmt::format(", but for the {:.0f} ns that starting it takes", *facts_.dispatch_ns);
    Add(AdviceKind::kKernel, facts_.time->low_ns / reachable_ns,
        fmt::format("it runs at {} % of what {} allows: a kernel that fits this shape better can "
                    "come nearer{}",
                    PercentText(*bound_.percent_of_bound), Name(bound_.limiter), start));
  }

  void Threads() {
    if (!facts_.all_threads || facts_.available_threads <= facts_.threads) return;
    if (!facts_.worth_sharing) return;
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

std::vector<Advice> AdviseLayer(const LayerFacts& facts, const Bound& bound,
                                const Ceilings& ceilings) {
  return Adviser(facts, bound, ceilings).Run();
}

}  // namespace tinyprof
