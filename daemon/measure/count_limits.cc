#include "daemon/measure/count_limits.h"

#include <fmt/format.h>

#include <utility>

#include "daemon/counters/physical_limits.h"

namespace tinyprof {
namespace {

constexpr double kLeastPassNs = 5'000;
constexpr double kLeastLayerNs = 20'000;
// What the reads at a layer's borders may add to one count and not to another.
constexpr double kReadNoisePerThread = 1'000;
// An event that counts a multiply-add as one sees half of the products.
constexpr double kLeastShareOfFlops = 0.45;

constexpr std::array kFlopMetrics = {Metric::kFlops, Metric::kFlopsSingle, Metric::kFlopsDouble};

double LeastFlops(const LayerWork& work, Metric metric) {
  if (metric == Metric::kFlopsSingle) return work.least_flops_single;
  return metric == Metric::kFlopsDouble ? work.least_flops_double : work.least_flops();
}

class Inspection {
 public:
  Inspection(const Stretch& stretch, Doubts& doubts)
      : stretch_(stretch),
        doubts_(doubts),
        read_noise_(stretch.layer ? kReadNoisePerThread * stretch.threads : 0) {}

  void Run() {
    if (stretch_.is_long()) {
      InspectAnchors();
      InspectRatios();
    }
    InspectFlops();
    if (!stretch_.layer) InspectZeros();
  }

 private:
  void InspectAnchors() {
    for (const Metric anchor : {Metric::kCycles, Metric::kInstructions}) {
      if (stretch_.count(anchor) == 0.0) {
        RuleOut(anchor, fmt::format("STOPPED_MOVING: none was counted in {} of {:.0f} ns",
                                    stretch_.Name(), stretch_.elapsed_ns));
      }
    }
    const std::optional<double> cycles = Usable(Metric::kCycles);
    if (cycles && stretch_.clock_hz) CompareWithClock(*cycles);
    const std::optional<double> instructions = Usable(Metric::kInstructions);
    const std::optional<double> most_cycles = MostCycles();
    if (!instructions || !most_cycles ||
        *instructions <= kMostInstructionsPerCycle * (*most_cycles + read_noise_)) {
      return;
    }
    const std::string reason = fmt::format(
        "IMPLAUSIBLE: {:.3g} instructions in {:.3g} cycles of {} are more than any core executes",
        *instructions, *most_cycles, stretch_.Name());
    RuleOut(Metric::kInstructions, reason);
    // Which of the two is wrong is known only where the clock confirms the cycles.
    if (!stretch_.clock_hz && cycles) RuleOut(Metric::kCycles, reason);
  }

  // One thread runs all the time; the others may wait without a cycle, or spin.
  void CompareWithClock(double cycles) {
    const double of_one_thread = *stretch_.clock_hz * stretch_.elapsed_ns * 1e-9;
    const std::string found = fmt::format(
        "IMPLAUSIBLE: {:.3g} cycles were counted in {}, which takes {:.0f} ns on {} threads at "
        "{:.2f} GHz",
        cycles, stretch_.Name(), stretch_.elapsed_ns, stretch_.threads, *stretch_.clock_hz * 1e-9);
    if (cycles > kMostClockChange * of_one_thread * stretch_.threads + read_noise_) {
      RuleOut(Metric::kCycles, found);
    } else if (cycles + read_noise_ < of_one_thread / kMostClockChange) {
      Suspect(Metric::kCycles, found);
    }
  }

  void InspectRatios() {
    struct Limit {
      Metric metric;
      double per_cycle;
    };
    constexpr std::array kLimits = {Limit{Metric::kFlops, kMostFlopsPerCycle},
                                    Limit{Metric::kFlopsSingle, kMostFlopsPerCycle},
                                    Limit{Metric::kFlopsDouble, kMostFlopsPerCycle},
                                    Limit{Metric::kL1dMisses, kMostLinesPerCycle},
                                    Limit{Metric::kL2Misses, kMostLinesPerCycle},
                                    Limit{Metric::kL3Misses, kMostLinesPerCycle},
                                    Limit{Metric::kDramBytes, kMostBytesPerCycle},
                                    Limit{Metric::kStallCycles, kMostStallsPerCycle},
                                    Limit{Metric::kDtlbMisses, kMostPageWalksPerCycle}};
    const std::optional<double> cycles = MostCycles();
    for (const Limit& limit : kLimits) {
      Compare(limit.metric, cycles, limit.per_cycle, "cycles");
    }
    const std::optional<double> instructions = Usable(Metric::kInstructions);
    for (const Metric metric : kFlopMetrics) {
      Compare(metric, instructions, kMostFlopsPerInstruction, "instructions");
    }
    Compare(Metric::kBranchMisses, instructions, 1, "instructions");
  }

  void Compare(Metric metric, std::optional<double> of, double most, std::string_view of_what) {
    const std::optional<double> count = Usable(metric);
    if (!count || !of || *count <= most * (*of + read_noise_)) return;
    RuleOut(metric,
            fmt::format("IMPLAUSIBLE: {:.3g} in {:.3g} {} of {} are more than any core can have",
                        *count, *of, of_what, stretch_.Name()));
  }

  void InspectFlops() {
    for (const Metric metric : kFlopMetrics) {
      const std::optional<double> count = Usable(metric);
      const double least = LeastFlops(stretch_.work, metric);
      if (!count || least == 0) continue;
      if (*count == 0) {
        RuleOut(
            metric,
            fmt::format("STOPPED_MOVING: none was counted in {}, which cannot do without {:.0f}",
                        stretch_.Name(), least));
      } else if (!stretch_.layer && *count < kLeastShareOfFlops * least) {
        Suspect(metric,
                fmt::format(
                    "IMPLAUSIBLE: {:.0f} were counted in a pass, which cannot do without {:.0f}",
                    *count, least));
      }
    }
  }

  void InspectZeros() {
    if (Usable(Metric::kStallCycles) == 0.0 &&
        Usable(Metric::kCycles).value_or(0) >= kCyclesWithAStall) {
      RuleOut(Metric::kStallCycles,
              fmt::format("STOPPED_MOVING: no stall was counted in {:.3g} cycles",
                          *stretch_.count(Metric::kCycles)));
    }
    if (Usable(Metric::kL1dMisses) == 0.0 && stretch_.work.weight_bytes >= kMoreThanAnyL1Bytes) {
      RuleOut(
          Metric::kL1dMisses,
          fmt::format("STOPPED_MOVING: no miss was counted in a pass that reads {:.0f} bytes of "
                      "weights in pages of {:.0f}",
                      stretch_.work.weight_bytes, kPageBytes));
    }
  }

  // The cycles that a ratio is taken to: those that were counted, or where these are in doubt, as
  // many as there can have been.
  std::optional<double> MostCycles() const {
    const std::optional<double> cycles = Usable(Metric::kCycles);
    if (cycles && doubts_.Find(Metric::kCycles) == nullptr) return cycles;
    if (!stretch_.clock_hz) return std::nullopt;
    return kMostClockChange * *stretch_.clock_hz * stretch_.elapsed_ns * 1e-9 * stretch_.threads;
  }

  // The count, unless something said already that it cannot be.
  std::optional<double> Usable(Metric metric) const {
    return doubts_.RuledOut(metric, stretch_.layer) ? std::nullopt : stretch_.count(metric);
  }

  void RuleOut(Metric metric, std::string reason) {
    doubts_.Add({.metric = metric,
                 .layer = stretch_.layer,
                 .impossible = true,
                 .reason = std::move(reason)});
  }
  void Suspect(Metric metric, std::string reason) {
    doubts_.Add({.metric = metric, .layer = {}, .impossible = false, .reason = std::move(reason)});
  }

  const Stretch& stretch_;
  Doubts& doubts_;
  const double read_noise_;
};

}  // namespace

bool Stretch::is_long() const { return elapsed_ns >= (layer ? kLeastLayerNs : kLeastPassNs); }

std::string Stretch::Name() const { return layer ? fmt::format("layer {}", *layer) : "a pass"; }

void InspectStretch(const Stretch& stretch, Doubts& doubts) { Inspection(stretch, doubts).Run(); }

}  // namespace tinyprof
