#include "daemon/convert/measurement.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "daemon/convert/counters.h"
#include "kernels/base/check.h"

namespace tinyprof {
namespace {

v1::Source ToProto(Source source) {
  switch (source) {
    case Source::kPapi:
      return v1::SOURCE_PAPI;
    case Source::kExecuted:
      return v1::SOURCE_EXECUTED;
    case Source::kSoftware:
      return v1::SOURCE_SOFTWARE;
    case Source::kAnalytic:
      return v1::SOURCE_ANALYTIC;
    case Source::kDerived:
      return v1::SOURCE_DERIVED;
    case Source::kSimulated:
      return v1::SOURCE_SIMULATED;
    case Source::kPerfEvent:
      return v1::SOURCE_PERF_EVENT;
  }
  return v1::SOURCE_UNSPECIFIED;
}

v1::Quality ToProto(Quality quality) {
  switch (quality) {
    case Quality::kExact:
      return v1::QUALITY_EXACT;
    case Quality::kGood:
      return v1::QUALITY_GOOD;
    case Quality::kSuspect:
      return v1::QUALITY_SUSPECT;
  }
  return v1::QUALITY_UNSPECIFIED;
}

v1::Counters ToProto(const CounterValues& values) {
  v1::Counters message;
  *message.mutable_flops() = ToProto(values.flops);
  *message.mutable_cycles() = ToProto(values.cycles);
  *message.mutable_instructions() = ToProto(values.instructions);
  *message.mutable_l1d_misses() = ToProto(values.l1d_misses);
  *message.mutable_l2_misses() = ToProto(values.l2_misses);
  *message.mutable_l3_misses() = ToProto(values.l3_misses);
  *message.mutable_dram_bytes() = ToProto(values.dram_bytes);
  *message.mutable_flops_single() = ToProto(values.flops_single);
  *message.mutable_flops_double() = ToProto(values.flops_double);
  *message.mutable_stall_cycles() = ToProto(values.stall_cycles);
  *message.mutable_branch_misses() = ToProto(values.branch_misses);
  *message.mutable_dtlb_misses() = ToProto(values.dtlb_misses);
  return message;
}

v1::SoftwareEvents ToProto(const SoftwareEvents& events) {
  v1::SoftwareEvents message;
  *message.mutable_task_clock() = ToProto(events.task_clock);
  *message.mutable_page_faults() = ToProto(events.page_faults);
  *message.mutable_context_switches() = ToProto(events.context_switches);
  *message.mutable_migrations() = ToProto(events.migrations);
  return message;
}

v1::Passes ToProto(const Passes& passes) {
  v1::Passes message;
  message.set_warmup(passes.warmup);
  message.set_timing(passes.timing);
  message.set_counting(passes.counting);
  message.set_discarded(passes.discarded);
  message.mutable_discarded_for()->insert(passes.discarded_for.begin(), passes.discarded_for.end());
  return message;
}

v1::MachineState ToProto(const MachineState& machine) {
  v1::MachineState message;
  message.set_clock_hz(machine.clock_hz);
  message.set_load_average(machine.load_average);
  if (machine.ping_pong_before_ns) message.set_ping_pong_before_ns(*machine.ping_pong_before_ns);
  if (machine.ping_pong_after_ns) message.set_ping_pong_after_ns(*machine.ping_pong_after_ns);
  message.set_huge_pages(machine.huge_pages);
  if (machine.steal_ns) message.set_steal_ns(*machine.steal_ns);
  return message;
}

v1::Overhead OverheadOf(const RunMeasurement& measured) {
  v1::Overhead message;
  message.set_read_cost_ns(measured.read_cost_ns);
  if (const auto& cost = measured.counter_read_cost) {
    message.set_counter_read_border_ns(cost->per_border_ns);
    message.set_counter_read_thread_ns(cost->per_thread_ns);
    message.set_counter_read_events(cost->event_count);
  }
  if (const auto& cost = measured.dispatch_cost) {
    message.set_dispatch_ns(cost->alone_ns);
    if (cost->team_ns) message.set_team_dispatch_ns(*cost->team_ns);
  }
  message.set_unattributed_ns(measured.unattributed_ns);
  message.set_instrumented_to_bare(measured.instrumented_to_bare);
  message.set_instrumented_pass_ns(measured.instrumented_pass_ns);
  return message;
}

// Memory of each layer, and the most of any up to and including it.
void AddMemory(const Session& session, v1::RunReport& report) {
  const MemoryPlan& plan = session.plan();
  int64_t peak_bytes = 0;
  int64_t largest_scratch_bytes = 0;
  for (int i = 0; i < report.layers_size(); ++i) {
    const auto node = static_cast<size_t>(i);
    const int64_t scratch_bytes = session.kernel(node).scratch_bytes();
    peak_bytes = std::max(peak_bytes, plan.live_bytes[node]);
    largest_scratch_bytes = std::max(largest_scratch_bytes, scratch_bytes);
    v1::LayerMemory& memory = *report.mutable_layers(i)->mutable_memory();
    memory.set_activation_bytes(plan.live_bytes[node] - scratch_bytes);
    memory.set_scratch_bytes(scratch_bytes);
    memory.set_peak_bytes(peak_bytes);
    memory.set_packed_weight_bytes(session.packed_bytes(node));
  }
  report.mutable_memory()->set_activation_bytes(plan.peak_activation_bytes);
  report.mutable_memory()->set_scratch_bytes(largest_scratch_bytes);
  report.mutable_memory()->set_peak_bytes(plan.arena_bytes);
  report.mutable_memory()->set_packed_weight_bytes(session.packed_bytes());
}

}  // namespace

Backend FromProto(v1::Backend backend) {
  if (backend == v1::BACKEND_REFERENCE) return Backend::kReference;
  if (backend == v1::BACKEND_BEST) return Backend::kBest;
  return backend == v1::BACKEND_ONEDNN ? Backend::kOnednn : Backend::kEigen;
}

ConvAlgorithm FromProto(v1::ConvAlgorithm algorithm) {
  if (algorithm == v1::CONV_ALGORITHM_WINOGRAD) return ConvAlgorithm::kWinograd;
  return algorithm == v1::CONV_ALGORITHM_AUTO ? ConvAlgorithm::kAuto : ConvAlgorithm::kDirect;
}

MeasureOptions MeasureOptionsOf(const v1::RunSpec& spec, std::vector<int> cpus) {
  MeasureOptions options;
  options.threads = spec.threads();
  options.cpus = std::move(cpus);
  options.cache = spec.cache() == v1::CACHE_MODE_COLD ? CacheMode::kCold : CacheMode::kWarm;
  if (spec.counters() == v1::COUNTER_MODE_PAPI) options.counters = CounterMode::kPapi;
  if (spec.counters() == v1::COUNTER_MODE_NONE) options.counters = CounterMode::kNone;
  options.precision = spec.precision();
  options.time_budget_ns =
      google::protobuf::util::TimeUtil::DurationToNanoseconds(spec.time_budget());
  return options;
}

v1::Quantity ToProto(const Quantity& quantity) {
  if (quantity.value && !std::isfinite(*quantity.value)) {
    return ToProto(
        Quantity::Absent(quantity.unit, quantity.source,
                         fmt::format("IMPLAUSIBLE: {} gives no finite number", quantity.formula)));
  }
  v1::Quantity message;
  if (quantity.value) message.set_value(*quantity.value);
  message.set_unit(quantity.unit);
  message.set_source(ToProto(quantity.source));
  if (quantity.value && quantity.quality) message.set_quality(ToProto(*quantity.quality));
  message.set_reason(quantity.reason);
  message.set_formula(quantity.formula);
  message.set_note(quantity.note);
  return message;
}

v1::TimeStats ToProto(const TimeStats& stats) {
  v1::TimeStats message;
  message.set_median_ns(stats.median_ns);
  message.set_mad_ns(stats.mad_ns);
  message.set_min_ns(stats.min_ns);
  if (stats.p90_ns) message.set_p90_ns(*stats.p90_ns);
  if (stats.p95_ns) message.set_p95_ns(*stats.p95_ns);
  if (stats.p99_ns) message.set_p99_ns(*stats.p99_ns);
  message.set_ci_low_ns(stats.ci_low_ns);
  message.set_ci_high_ns(stats.ci_high_ns);
  message.set_n(stats.n);
  message.set_outliers(stats.outliers);
  message.set_first_pass_ns(stats.first_pass_ns);
  message.set_trimmed_mean_ns(stats.trimmed_mean_ns);
  return message;
}

v1::Progress ToProto(const ProgressUpdate& update) {
  v1::Progress message;
  message.set_phase(std::string(update.phase));
  message.set_done(update.done);
  message.set_total(update.total);
  message.set_precision_reached(update.precision_reached);
  return message;
}

void AddMeasurement(const Session& session, const RunMeasurement& measured, v1::RunReport& report) {
  TINYPROF_CHECK(measured.layers.size() == session.node_count());
  TINYPROF_CHECK(measured.layers.size() == static_cast<size_t>(report.layers_size()));
  for (int i = 0; i < report.layers_size(); ++i) {
    const auto node = static_cast<size_t>(i);
    v1::LayerReport& layer = *report.mutable_layers(i);
    layer.set_implementation(session.kernel(node).implementation());
    layer.set_backend(std::string(Name(session.backend(node))));
    layer.set_folded_flop_count(session.kernel(node).folded_flop_count());
    *layer.mutable_time() = ToProto(measured.layers[node].time);
    *layer.mutable_counters() = ToProto(measured.layers[node].counters);
  }
  AddMemory(session, report);
  *report.mutable_time() = ToProto(measured.time);
  *report.mutable_counters() = ToProto(measured.totals);
  *report.mutable_software() = ToProto(measured.software);
  *report.mutable_passes() = ToProto(measured.passes);
  *report.mutable_overhead() = OverheadOf(measured);
  *report.mutable_machine() = ToProto(measured.machine);
  report.mutable_warnings()->Add(measured.warnings.begin(), measured.warnings.end());
  report.set_stopped_by(measured.stopped_by);
  report.set_counter_source(measured.counter_source);
  report.set_max_resident_bytes(measured.max_resident_bytes);
  for (const Metric metric : measured.doubted_metrics) {
    report.add_doubted_metrics(std::string(Name(metric)));
  }
  if (measured.trust.has_value()) *report.mutable_trust() = ToProto(*measured.trust);
}

}  // namespace tinyprof
