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

// What the advice is sorted by.
double GainOf(const Advice& advice) { return advice.speedup.value_or(advice.max_speedup); }

class Adviser {
 public:
  Adviser(const LayerFacts& facts, const Bound& bound, const Ceilings& ceilings)
      : facts_(facts), bound_(bound), ceilings_(ceilings) {}

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
    std::stable_sort(advice_.begin(), advice_.end(),
                     [](const Advice& a, const Advice& b) { return GainOf(a) > GainOf(b); });
    return std::move(advice_);
  }

 private:
  double flops() const { return static_cast<double>(facts_.flop_count); }
  double weights() const { return static_cast<double>(facts_.weight_bytes); }
  double activations() const { return static_cast<double>(facts_.activation_bytes); }
  bool weights_dominate() const { return facts_.weight_bytes > facts_.activation_bytes; }

  // The bound of other counts, under the layer's ceilings or others; 0 where none applies.
  double BoundOf(double flop_count, double weight_bytes, double activation_bytes,
                 const Ceilings& ceilings) const {
    const double bytes = weights() + activations();
    const double share = bytes > 0 ? (weight_bytes + activation_bytes) / bytes : 1;
    const auto part = [&](int64_t all) {
      return static_cast<int64_t>(static_cast<double>(all) * share);
    };
    const BoundInput input{
        .flop_count = static_cast<int64_t>(flop_count),
        .byte_count = static_cast<int64_t>(weight_bytes + activation_bytes),
        .streamed_bytes = facts_.cold_bytes > 0 ? 0 : static_cast<int64_t>(weight_bytes),
        .pass_bytes = part(facts_.pass_bytes),
        .cold_bytes = part(facts_.cold_bytes)};
    return BoundNs(input, ceilings).value_or(0);
  }
  double BoundOf(double flop_count, double weight_bytes, double activation_bytes) const {
    return BoundOf(flop_count, weight_bytes, activation_bytes, ceilings_);
  }

  double dispatch_ns() const { return facts_.dispatch_ns.value_or(0); }

  void Add(AdviceKind kind, std::optional<double> speedup, double max_speedup, std::string why) {
    const double limit = std::max(max_speedup, speedup.value_or(1));
    if (speedup.value_or(limit) < kMinSpeedup) return;
    advice_.push_back({kind, speedup, limit, std::move(why)});
  }

  // The gain where `elapsed_ns` was measured.
  double GainFromBound(double new_bound_ns, double elapsed_ns) const {
    const double explained_ns = std::min(bound_.bound_ns, elapsed_ns);
    const double left_ns = explained_ns * new_bound_ns / bound_.bound_ns;
    return elapsed_ns / std::max(elapsed_ns - explained_ns + left_ns, dispatch_ns() + left_ns);
  }

  // `started_ns` is what starting the layer takes after the remedy.
  void AddFromBound(AdviceKind kind, double new_bound_ns, double started_ns, std::string why) {
    if (new_bound_ns <= 0) return;
    if (!facts_.time) {
      const double gain = bound_.bound_ns / new_bound_ns;
      return Add(kind, gain, gain, std::move(why));
    }
    // Up to b + d the gain grows with the time, and beyond it falls: an end is the smallest.
    Add(kind,
        std::min(GainFromBound(new_bound_ns, facts_.time->low_ns),
                 GainFromBound(new_bound_ns, facts_.time->high_ns)),
        facts_.time->high_ns / (started_ns + new_bound_ns), std::move(why));
  }

  void Quantize() {
    if (facts_.weight_bytes == 0 || facts_.weight_element_bytes <= 1) return;
    const double int8_weights = weights() / static_cast<double>(facts_.weight_element_bytes);
    AddFromBound(
        AdviceKind::kQuantize, BoundOf(flops(), int8_weights, activations()), dispatch_ns(),
        fmt::format("weights are {:.0f} % of the bytes that bound this layer; as int8 they are "
                    "{} times smaller",
                    100 * weights() / (weights() + activations()), facts_.weight_element_bytes));
  }

  // The fused layer still writes its output and reads its other inputs.
  void Fuse() {
    if (!facts_.is_elementwise || facts_.fusable_input_bytes <= 0) return;
    const double left = activations() - static_cast<double>(facts_.fusable_input_bytes);
    AddFromBound(AdviceKind::kFuse, BoundOf(flops(), weights(), left), dispatch_ns(),
                 fmt::format("computed where its input is made, it need not read {} back, and the "
                             "layer before need not write them",
                             SizeText(facts_.fusable_input_bytes)));
  }

  // With ever more samples a pass, each pays for its own activations only.
  void BatchWeights() {
    if (!weights_dominate()) return;
    AddFromBound(
        AdviceKind::kBatch, BoundOf(flops(), 0, activations()), 0,
        "weights are read once for all samples of a pass: with more of them each pays less");
  }

  void BatchOverhead() {
    if (!facts_.time || !facts_.dispatch_ns) return;
    const double share = std::min(*facts_.dispatch_ns / facts_.time->high_ns, kMostDispatchShare);
    const double left_ns = BoundOf(flops(), 0, activations());
    const double speedup = 1 / (1 - share);
    Add(AdviceKind::kBatch, speedup, left_ns > 0 ? facts_.time->high_ns / left_ns : speedup,
        fmt::format("starting the layer is {:.0f} % of its time or more, and more samples a pass "
                    "share that",
                    100 * share));
  }

  void Prune() {
    if (facts_.weight_bytes == 0) return;
    AddFromBound(
        AdviceKind::kPrune,
        BoundOf(kPrunedShare * flops(), kPrunedShare * weights(), activations()), dispatch_ns(),
        "without half of its channels it has half of the FLOPs and weights; what that does to "
        "accuracy must be checked");
  }

  void KvCache() {
    if (facts_.recomputed_positions <= 1) return;
    const auto positions = static_cast<double>(facts_.recomputed_positions);
    AddFromBound(AdviceKind::kKvCache,
                 BoundOf(flops() / positions, weights(), activations() / positions), dispatch_ns(),
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
    Add(AdviceKind::kKernel, std::nullopt, facts_.time->high_ns / reachable_ns,
        fmt::format("it runs at {} % of what {} allows for its FLOPs and bytes: a kernel that fits "
                    "this shape better can "
                    "come nearer{}",
                    PercentText(*bound_.percent_of_bound), Name(bound_.limiter), start));
  }

  void Threads() {
    if (!facts_.all_threads || facts_.available_threads <= facts_.threads) return;
    if (!facts_.worth_sharing) return;
    AddFromBound(AdviceKind::kThreads,
                 BoundOf(flops(), weights(), activations(), *facts_.all_threads), dispatch_ns(),
                 fmt::format("it used {} of {} cores, and the ceilings of all are higher",
                             facts_.threads, facts_.available_threads));
  }

  const LayerFacts& facts_;
  const Bound& bound_;
  const Ceilings& ceilings_;
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
