// From counts of events to metrics of layers.
#pragma once

#include <string_view>
#include <vector>

#include "daemon/counters/counter_backend.h"
#include "daemon/counters/counter_plan.h"
#include "daemon/measure/counter_passes.h"
#include "daemon/measure/measure.h"

namespace tinyprof {

inline constexpr std::string_view kNotAskedReason = "NOT_ASKED: this run was to count nothing";
inline constexpr std::string_view kNoLayersReason = "NO_LAYERS: the model has no layers";

// Where the counts of a backend come from: hardware only for the names that count on it, so that a
// new or misspelt name never passes for a measurement.
Source SourceOf(const BackendInfo& backend);

// The quantity of a metric among the values.
Quantity& At(CounterValues& values, Metric metric);

// All of them absent, each for `reasons[metric]`.
CounterValues AbsentValues(const CounterPlan& plan, Source source);
// All of them absent for one reason.
CounterValues AbsentValues(std::string_view reason, Source source);

// Values of every layer: for each metric the weighted sum of its events' medians over passes. Exact
// when the events are trusted as exact and every pass gave the same; suspect when the passes
// drifted.
std::vector<CounterValues> LayerValues(const CounterPlan& plan, const CounterSamples& samples,
                                       size_t node_count, Source source);

// Sums over layers, so that they add up; absent where one layer's value is, and no better than the
// worst of them. `layers` may be empty, which gives `none`.
CounterValues SumOverLayers(const std::vector<CounterValues>& layers, const CounterValues& none);

}  // namespace tinyprof
