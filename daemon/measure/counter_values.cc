#include "daemon/measure/counter_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/measure/statistics.h"
#include "kernels/base/check.h"

namespace tinyprof {
namespace {

// The counts of one event in one layer, by pass.
std::vector<double> CountsOf(const GroupSamples& group, size_t node, size_t event) {
  std::vector<double> counts;
  for (const std::vector<double>& pass : group.passes) {
    counts.push_back(pass[node * group.event_count + event]);
  }
  return counts;
}

// Why the metric has no trustworthy samples, or nothing.
std::string LostReason(const PlannedMetric& metric, const CounterSamples& samples) {
  for (const EventPosition& position : metric.positions) {
    const GroupSamples& group = samples.groups[position.group];
    if (group.passes.empty()) {
      return group.lost_reason;
    }
  }
  return "";
}

Quantity LayerValue(const PlannedMetric& metric, std::string unit, Source source,
                    const CounterSamples& samples, size_t node) {
  if (!metric.usable()) {
    return Quantity::Absent(std::move(unit), source, metric.reason);
  }
  if (std::string reason = LostReason(metric, samples); !reason.empty()) {
    return Quantity::Absent(std::move(unit), source, std::move(reason));
  }
  Quantity quantity{.value = 0.0,
                    .unit = std::move(unit),
                    .source = source,
                    .quality = metric.quality,
                    .reason = metric.reason,
                    .formula = metric.formula->Describe()};
  for (size_t term = 0; term < metric.positions.size(); ++term) {
    const EventPosition& position = metric.positions[term];
    const GroupSamples& group = samples.groups[position.group];
    const std::vector<double> counts = CountsOf(group, node, position.index);
    *quantity.value += metric.formula->terms[term].weight * Median(counts);
    const bool equal =
        std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
    if (!equal && quantity.quality == Quality::kExact) {
      quantity.quality = Quality::kGood;
    }
    if (!group.drift_reason.empty()) {
      quantity.quality = Quality::kSuspect;
      quantity.reason = group.drift_reason;
    }
  }
  if (*quantity.value < 0) {
    return Quantity::Absent(
        quantity.unit, source,
        fmt::format("IMPLAUSIBLE: {} gives less than nothing", quantity.formula));
  }
  return quantity;
}

// Adds a layer's quantity to a total that begins as the first layer's.
void Accumulate(const Quantity& layer, Quantity& total) {
  if (!total.value.has_value()) {
    return;
  }
  if (!layer.value.has_value()) {
    total = layer;
    return;
  }
  *total.value += *layer.value;
  if (layer.quality > total.quality) {
    total.quality = layer.quality;
    total.reason = layer.reason;
  }
}

}  // namespace

Source SourceOf(const BackendInfo& backend) {
  if (backend.name == Name(Source::kPapi)) return Source::kPapi;
  return backend.name == Name(Source::kPerfEvent) ? Source::kPerfEvent : Source::kSimulated;
}

Quantity& At(CounterValues& values, Metric metric) {
  switch (metric) {
    case Metric::kFlops:
      return values.flops;
    case Metric::kCycles:
      return values.cycles;
    case Metric::kInstructions:
      return values.instructions;
    case Metric::kL1dMisses:
      return values.l1d_misses;
    case Metric::kL2Misses:
      return values.l2_misses;
    case Metric::kL3Misses:
      return values.l3_misses;
    case Metric::kDramBytes:
      return values.dram_bytes;
    case Metric::kFlopsSingle:
      return values.flops_single;
    case Metric::kFlopsDouble:
      return values.flops_double;
    case Metric::kStallCycles:
      return values.stall_cycles;
    case Metric::kBranchMisses:
      return values.branch_misses;
    case Metric::kDtlbMisses:
      return values.dtlb_misses;
  }
  TINYPROF_CHECK(false);
}

CounterValues AbsentValues(const CounterPlan& plan, Source source) {
  CounterValues values;
  for (const Metric metric : kMetrics) {
    At(values, metric) =
        Quantity::Absent(std::string(Unit(metric)), source, plan.metric(metric).reason);
  }
  return values;
}

CounterValues AbsentValues(std::string_view reason, Source source) {
  CounterValues values;
  for (const Metric metric : kMetrics) {
    At(values, metric) = Quantity::Absent(std::string(Unit(metric)), source, std::string(reason));
  }
  return values;
}

std::vector<CounterValues> LayerValues(const CounterPlan& plan, const CounterSamples& samples,
                                       size_t node_count, Source source) {
  std::vector<CounterValues> layers(node_count);
  for (size_t node = 0; node < node_count; ++node) {
    for (const Metric metric : kMetrics) {
      At(layers[node], metric) =
          LayerValue(plan.metric(metric), std::string(Unit(metric)), source, samples, node);
    }
  }
  return layers;
}

CounterValues SumOverLayers(const std::vector<CounterValues>& layers, const CounterValues& none) {
  if (layers.empty()) {
    return none;
  }
  CounterValues totals = layers.front();
  for (size_t node = 1; node < layers.size(); ++node) {
    CounterValues layer = layers[node];
    for (const Metric metric : kMetrics) {
      Accumulate(At(layer, metric), At(totals, metric));
    }
  }
  return totals;
}

}  // namespace tinyprof
