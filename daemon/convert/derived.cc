#include "daemon/convert/derived.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tinyprof {
namespace {

constexpr const char* kNoCost = "NO_COST_RULE: the operator has no cost rule";
constexpr const char* kNoFlops =
    "NO_FLOPS: there are none by formula, so there is no ratio to them";
constexpr const char* kNoBytes = "NO_BYTES: none were counted, so there is no ratio to them";
constexpr const char* kNoTime = "NO_TIME: the time was not measured";

v1::Quantity Derived(std::string unit) {
  v1::Quantity quantity;
  quantity.set_unit(std::move(unit));
  quantity.set_source(v1::SOURCE_DERIVED);
  return quantity;
}

v1::Quantity Absent(std::string unit, std::string reason) {
  v1::Quantity quantity = Derived(std::move(unit));
  quantity.set_reason(std::move(reason));
  return quantity;
}

v1::Quantity Present(std::string unit, double value, std::string formula) {
  v1::Quantity quantity = Derived(std::move(unit));
  quantity.set_value(value);
  quantity.set_quality(v1::QUALITY_GOOD);
  quantity.set_formula(std::move(formula));
  return quantity;
}

// A result is no better than what it is made of, and of a stand-in's counts is one of the stand-in.
void Inherit(const v1::Quantity& operand, v1::Quantity& result) {
  if (operand.source() == v1::SOURCE_SIMULATED) result.set_source(operand.source());
  if (!result.has_value() || operand.quality() <= result.quality()) return;
  result.set_quality(operand.quality());
  result.set_reason(operand.reason());
}

v1::Quantity FlopsPerSecond(const v1::Cost* cost, const v1::TimeStats& time) {
  if (!cost) return Absent("flop/s", kNoCost);
  if (time.median_ns() <= 0) return Absent("flop/s", kNoTime);
  return Present("flop/s", static_cast<double>(cost->flop_count()) / time.median_ns() * 1e9,
                 "flop_count / time.median_ns");
}

v1::Quantity ToAnalytic(const v1::Cost* cost, const v1::Quantity& flops) {
  if (!flops.has_value()) return Absent("ratio", flops.reason());
  if (!cost) return Absent("ratio", kNoCost);
  if (cost->flop_count() == 0) return Absent("ratio", kNoFlops);
  return Present("ratio", flops.value() / static_cast<double>(cost->flop_count()),
                 "counters.flops / flop_count");
}

v1::Quantity MeasuredToAnalytic(const v1::Cost* cost, const v1::Quantity& flops) {
  v1::Quantity ratio = ToAnalytic(cost, flops);
  Inherit(flops, ratio);
  return ratio;
}

v1::Quantity Intensity(const v1::Quantity& flops, const v1::Quantity& bytes) {
  if (!flops.has_value()) return Absent("flop/byte", flops.reason());
  if (!bytes.has_value()) return Absent("flop/byte", bytes.reason());
  if (bytes.value() == 0) return Absent("flop/byte", kNoBytes);
  v1::Quantity intensity =
      Present("flop/byte", flops.value() / bytes.value(), "counters.flops / counters.dram_bytes");
  intensity.set_note(bytes.note());
  return intensity;
}

v1::Quantity MeasuredIntensity(const v1::Quantity& flops, const v1::Quantity& bytes) {
  v1::Quantity intensity = Intensity(flops, bytes);
  Inherit(flops, intensity);
  Inherit(bytes, intensity);
  return intensity;
}

// `Report` is v1::RunReport or v1::LayerReport, which name these fields alike.
template <class Report>
void Fill(const v1::Cost* cost, Report& report) {
  const v1::Counters& counters = report.counters();
  *report.mutable_flops_per_second() = FlopsPerSecond(cost, report.time());
  *report.mutable_measured_to_analytic() = MeasuredToAnalytic(cost, counters.flops());
  *report.mutable_measured_intensity() = MeasuredIntensity(counters.flops(), counters.dram_bytes());
}

}  // namespace

void AddDerived(v1::RunReport& report) {
  for (v1::LayerReport& layer : *report.mutable_layers()) {
    const v1::LayerAnalysis& analysis = layer.analysis();
    Fill(analysis.has_cost() ? &analysis.cost() : nullptr, layer);
  }
  // Totals that leave layers out are no totals to divide by.
  const v1::ModelAnalysis& analysis = report.analysis();
  const bool whole = analysis.coverage().nodes_with_rule() == analysis.coverage().node_count();
  Fill(whole ? &analysis.totals() : nullptr, report);
}

}  // namespace tinyprof
