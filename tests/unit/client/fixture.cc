#include "tests/unit/client/fixture.h"

#include <google/protobuf/text_format.h>

#include <string>

#include "kernels/base/check.h"

namespace tinyprof::client {
namespace {

template <class Message>
Message Parse(const std::string& text) {
  Message message;
  TINYPROF_CHECK(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

// 2 x 4 times 4 x 3: 24 MACs, 6 bias adds, 54 FLOPs; bytes 4 (15 + 8 + 6) = 116.
constexpr const char* kLinear = R"pb(
  index: 0
  name: "fc"
  op: "Gemm"
  path: "0"
  inputs {
    name: "x"
    shape: [ 2, 4 ]
    dtype: "float32"
  }
  inputs {
    name: "w"
    shape: [ 4, 3 ]
    dtype: "float32"
  }
  outputs {
    name: "h"
    shape: [ 2, 3 ]
    dtype: "float32"
  }
  parameter_count: 15
  cost {
    mac_count: 24
    valid_tap_mac_count: 24
    flop_count: 54
    flop_count_2mac: 48
    flop_classes { mac: 24 bias: 6 }
    weight_bytes: 60
    input_bytes: 32
    output_bytes: 24
    compulsory_bytes: 116
    arithmetic_intensity: 0.5
  }
)pb";

constexpr const char* kOdd = R"pb(
  index: 1
  name: "odd \"one\",\n"
  op: "Mystery"
  path: "1"
  inputs {
    name: "h"
    shape: [ 2, 3 ]
    dtype: "float32"
  }
  outputs {
    name: "y"
    shape: [ 2, 3 ]
    dtype: "float32"
  }
)pb";

constexpr const char* kHead = R"pb(
  name: "tiny"
  source: "layers"
  inputs {
    name: "x"
    shape: [ 2, 4 ]
    dtype: "float32"
  }
  outputs {
    name: "y"
    shape: [ 2, 3 ]
    dtype: "float32"
  }
  parameter_count: 15
  unique_parameter_count: 15
  parameter_bytes: 60
  totals {
    mac_count: 24
    valid_tap_mac_count: 24
    flop_count: 54
    flop_count_2mac: 48
    flop_classes { mac: 24 bias: 6 }
    weight_bytes: 60
    input_bytes: 32
    output_bytes: 24
    compulsory_bytes: 116
    arithmetic_intensity: 0.5
  }
  activation_peak_bytes: 56
  tinytorch_flop_count: 24
  coverage { node_count: 2 nodes_with_rule: 1 unknown_ops: "Mystery" }
  convention: "1 MAC = 2 FLOPs"
)pb";

std::string Absent(const std::string& field, const std::string& unit) {
  return field + R"( { unit: ")" + unit +
         R"(" source: SOURCE_PAPI reason: "NO_PMU: no PMU here" } )";
}

std::string AbsentCounters() {
  std::string text = "counters { " + Absent("flops", "flop") + Absent("cycles", "cycle") +
                     Absent("instructions", "count");
  for (const char* level : {"l1d_misses", "l2_misses", "l3_misses"}) text += Absent(level, "count");
  text += Absent("dram_bytes", "byte") + Absent("flops_single", "flop") +
          Absent("flops_double", "flop") + Absent("stall_cycles", "cycle");
  for (const char* event : {"branch_misses", "dtlb_misses"}) text += Absent(event, "count");
  return text + "} " + Absent("measured_to_analytic", "ratio") +
         Absent("measured_intensity", "flop/byte");
}

std::string Time(double median_ns) {
  const std::string median = std::to_string(median_ns);
  return "time { median_ns: " + median + " mad_ns: 10 min_ns: " + median + " p90_ns: " + median +
         " p95_ns: " + median + " p99_ns: " + median +
         " ci_low_ns: " + std::to_string(median_ns * 0.75) +
         " ci_high_ns: " + std::to_string(median_ns * 1.25) +
         " n: 150 outliers: 2 first_pass_ns: 9000 trimmed_mean_ns: " + median + " } ";
}

constexpr const char* kBound = R"pb(
  bound {
    flops_per_second: 36000000
    limiter: "DRAM"
    percent_of_bound: 50
    ridge_margin: 0.25
    label: "memory"
    bound_ns: 1500
  }
)pb";

}  // namespace

v1::ModelAnalysis Analysis() {
  auto analysis = Parse<v1::ModelAnalysis>(kHead);
  *analysis.add_layers() = Parse<v1::LayerAnalysis>(kLinear);
  *analysis.add_layers() = Parse<v1::LayerAnalysis>(kOdd);
  return analysis;
}

v1::Run RunInState(v1::RunState state) {
  auto run = Parse<v1::Run>(R"pb(
    id: "r-1"
    spec {
      model { text: "linear(4,3)" batch: 1 seed: 1 }
      backend: BACKEND_EIGEN
      isa: "native"
      threads: 1
      cache: CACHE_MODE_WARM
      precision: 0.01
    }
    create_time { seconds: 1700000000 }
  )pb");
  run.set_state(state);
  if (state == v1::RUN_STATE_FAILED) {
    *run.mutable_error() = Parse<v1::RunError>(R"pb(reason: "OUT_OF_MEMORY"
                                                    message: "the worker needs more than 1 GiB"
                                                    layer: "fc")pb");
  }
  if (state == v1::RUN_STATE_CANCELLED) {
    *run.mutable_error() = Parse<v1::RunError>(
        R"pb(reason: "CANCELLED" message: "the run was cancelled on request")pb");
  }
  return run;
}

v1::Run SucceededRun() {
  v1::Run run = RunInState(v1::RUN_STATE_SUCCEEDED);
  auto& report = *run.mutable_report();
  report = Parse<v1::RunReport>(AbsentCounters() + Time(4000) + kBound + R"pb(
    host {
      cpu: "Test CPU"
      kernel: "6.1"
      memory_bytes: 1024
      cpu_count: 2
      measurement_cpus: 1
      isas: "avx2"
      unknown { key: "governor" value: "NO_CPUFREQ: no cpufreq here" }
    }
    backend: "eigen"
    isa: "avx2"
    compiler: "gcc 12.2"
    threads: 1
    cpus: 1
    cache: "warm"
    counter_source: "none"
    stopped_by: "precision"
    passes { warmup: 3 timing: 50 counting: 0 discarded: 1 }
    warnings: "the clock is not fixed"
    software {
      task_clock { value: 4000 unit: "ns" source: SOURCE_SOFTWARE quality: QUALITY_GOOD }
      page_faults { value: 0 unit: "count" source: SOURCE_SOFTWARE quality: QUALITY_EXACT }
      context_switches { value: 0 unit: "count" source: SOURCE_SOFTWARE quality: QUALITY_EXACT }
      migrations { unit: "count" source: SOURCE_SOFTWARE reason: "NO_EVENT: not counted here" }
    }
    flops_per_second { value: 13500000 unit: "flop/s" source: SOURCE_DERIVED quality: QUALITY_GOOD }
    memory { activation_bytes: 56 scratch_bytes: 0 peak_bytes: 56 }
    max_resident_bytes: 1048576
    overhead {
      read_cost_ns: 25
      unattributed_ns: 100
      instrumented_to_bare: 1.025
      instrumented_pass_ns: 4100
      dispatch_ns: 45
    }
    tinytorch { gflops_per_second: 0.0125 memory_bandwidth_mbs: 2.5 bottleneck: "memory" }
    machine { clock_hz: 3000000000 load_average: 0.5 huge_pages: "madvise" }
    trust {
      rows {
        loop: "avx2_add_float32"
        metric: "flops"
        formula: "FLOPS:ANY"
        iterations: 100
        expected_low: 800
        expected: 800
        expected_high: 800
        measured: 796
        spread: 0.25
        quality: "good"
      }
      elapsed_ns: 5000
      complete: true
    }
    duration_ns: 2000000
  )pb");
  *report.mutable_analysis() = Parse<v1::ModelAnalysis>(kHead);
  v1::LayerReport& linear = *report.add_layers();
  linear = Parse<v1::LayerReport>(AbsentCounters() + Time(3000) + kBound + R"pb(
    backend: "eigen"
    implementation: "gemm"
    flops_per_second { value: 18000000 unit: "flop/s" source: SOURCE_DERIVED quality: QUALITY_GOOD }
    memory { activation_bytes: 56 scratch_bytes: 0 peak_bytes: 56 packed_weight_bytes: 32 }
    advice { kind: "batch" speedup: 1.5 max_speedup: 2 why: "weights are 52 % of the traffic" }
  )pb");
  *linear.mutable_analysis() = Parse<v1::LayerAnalysis>(kLinear);
  v1::LayerReport& odd = *report.add_layers();
  odd = Parse<v1::LayerReport>(AbsentCounters() + Time(1000) + R"pb(
    flops_per_second {
      unit: "flop/s"
      source: SOURCE_DERIVED
      reason: "NO_COST_RULE: no FLOPs known"
    }
    memory { activation_bytes: 48 scratch_bytes: 0 peak_bytes: 56 }
  )pb");
  *odd.mutable_analysis() = Parse<v1::LayerAnalysis>(kOdd);
  return run;
}

v1::Run RunWithTraffic(const std::string& formula, const std::string& note) {
  v1::Run run = SucceededRun();
  v1::Quantity& bytes = *run.mutable_report()->mutable_counters()->mutable_dram_bytes();
  bytes.set_value(12.0 * 1024 * 1024);
  bytes.set_source(v1::SOURCE_PERF_EVENT);
  bytes.set_quality(v1::QUALITY_GOOD);
  bytes.clear_reason();
  bytes.set_formula(formula);
  bytes.set_note(note);
  return run;
}

}  // namespace tinyprof::client
