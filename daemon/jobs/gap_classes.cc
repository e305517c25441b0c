#include "daemon/jobs/gap_classes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "daemon/jobs/layer_facts.h"

namespace tinyprof {
namespace {

constexpr const char* kMinMaxNote = "this CPU's event does not count maxima and minima";
constexpr const char* kPaddingNote = "the kernel skips taps that fall on padding or a mask";
constexpr const char* kTranscendentalNote =
    "functions such as exp are 1 FLOP by convention and a polynomial in hardware";
constexpr const char* kAlgorithmNote =
    "Winograd's convolution does fewer products than the definition, for more additions";
constexpr const char* kFoldedNote =
    "a normalization was worked into the weights when the network was loaded";
constexpr const char* kResidualNote =
    "no class explains this: vector tails, another algorithm, or a defect";

std::string NoteOf(const std::string& name) {
  if (name == "minmax") return kMinMaxNote;
  if (name == "padding") return kPaddingNote;
  if (name == "algorithm") return kAlgorithmNote;
  if (name == "folded") return kFoldedNote;
  if (name == "transcendental") return kTranscendentalNote;
  return kResidualNote;
}

using FlopsByClass = std::map<std::string, double>;

// Moves as much of `rest` as lies between 0 and `limit` (of either sign) to the class.
void Take(FlopsByClass& classes, const char* name, double limit, double& rest) {
  const double flops = std::clamp(rest, std::min(limit, 0.0), std::max(limit, 0.0));
  if (flops == 0) return;
  classes[name] += flops;
  rest -= flops;
}

FlopsByClass ClassesOf(const v1::LayerReport& layer, bool counts_minmax) {
  FlopsByClass classes;
  const v1::Cost& cost = layer.analysis().cost();
  const double measured_flops = layer.counters().flops().value();
  const v1::FlopClasses& flops = cost.flop_classes();
  double rest = measured_flops - static_cast<double>(cost.flop_count());
  if (!counts_minmax) Take(classes, "minmax", -static_cast<double>(flops.minmax()), rest);
  Take(classes, "folded", -static_cast<double>(layer.folded_flop_count()), rest);
  // It does no tap by itself, so none is skipped; and at most every product is saved.
  if (IsWinograd(layer))
    Take(classes, "algorithm", -2.0 * static_cast<double>(cost.mac_count()), rest);
  const int64_t skipped_taps = cost.mac_count() - cost.valid_tap_mac_count();
  Take(classes, "padding", -2.0 * static_cast<double>(skipped_taps), rest);
  const auto transcendental = static_cast<double>(flops.transcendental());
  Take(classes, "transcendental", (kFlopsPerTranscendental - 1) * transcendental, rest);
  if (std::fabs(rest) > kNoticeableShare * static_cast<double>(cost.flop_count())) {
    classes["residual"] += rest;
  }
  return classes;
}

void Write(const FlopsByClass& classes, v1::Source source,
           google::protobuf::RepeatedPtrField<v1::GapClass>& gap) {
  const std::string stamp = source == v1::SOURCE_SIMULATED ? "simulated: " : "";
  gap.Clear();
  for (const auto& [name, flops] : classes) {
    v1::GapClass& added = *gap.Add();
    added.set_name(name);
    added.set_flops(flops);
    added.set_note(stamp + NoteOf(name));
  }
}

}  // namespace

void AddGapClasses(std::string_view vendor, v1::RunReport& report) {
  const bool counts_minmax = vendor != "AuthenticAMD";
  FlopsByClass totals;
  v1::Source source = v1::SOURCE_UNSPECIFIED;  // one for all layers
  for (v1::LayerReport& layer : *report.mutable_layers()) {
    if (!layer.analysis().has_cost() || !layer.counters().flops().has_value()) continue;
    const FlopsByClass classes = ClassesOf(layer, counts_minmax);
    source = layer.counters().flops().source();
    Write(classes, source, *layer.mutable_gap());
    for (const auto& [name, flops] : classes) totals[name] += flops;
  }
  Write(totals, source, *report.mutable_gap());
}

}  // namespace tinyprof
