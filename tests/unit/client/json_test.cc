// The JSON documents against hand-written ones, field order included.
#include "client/render/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "client/render/people.h"
#include "tests/unit/client/fixture.h"

namespace tinyprof::client {
namespace {

// The documents are compared as text after both were laid out alike, so that order counts.
void ExpectSame(const Json& got, const std::string& wanted) {
  EXPECT_EQ(Dump(got), Dump(Json::parse(wanted)));
}

const char* const kModelAndTotals = R"(
  "convention": "1 MAC = 2 FLOPs",
  "model": {"name": "tiny", "source": "layers", "sha256": null, "opset": null,
            "inputs": [{"name": "x", "shape": [2, 4], "dtype": "float32"}],
            "outputs": [{"name": "y", "shape": [2, 3], "dtype": "float32"}], "quantization": null},
  "totals": {"parameter_count": 15, "unique_parameter_count": 15, "parameter_bytes": 60,
             "mac_count": 24, "valid_tap_mac_count": 24, "flop_count": 54, "flop_count_2mac": 48,
             "flop_classes": {"mac": 24, "bias": 6, "add_mul_div": 0, "minmax": 0, "compare": 0,
                              "transcendental": 0, "reduction": 0},
             "int_op_count": 0, "weight_bytes": 60, "input_bytes": 32, "output_bytes": 24,
             "compulsory_bytes": 116,
             "arithmetic_intensity": {"value": 0.5, "unit": "flop/byte", "source": "analytic",
                                      "quality": "exact", "reason": null},
             "cost_reason": null,
             "activation_peak_bytes": 56, "tinytorch_flop_count": 24,
             "coverage": {"node_count": 2, "nodes_with_rule": 1, "unknown_ops": ["Mystery"]})";

const char* const kLinearLayer = R"(
  "index": 0, "name": "fc", "op": "Gemm", "path": "0", "fused": [], "stands_for": [], "input_shapes": [[2, 4], [4, 3]],
  "output_shapes": [[2, 3]], "parameter_count": 15,
  "mac_count": 24, "valid_tap_mac_count": 24, "flop_count": 54, "flop_count_2mac": 48,
  "flop_classes": {"mac": 24, "bias": 6, "add_mul_div": 0, "minmax": 0, "compare": 0,
                   "transcendental": 0, "reduction": 0},
  "int_op_count": 0, "weight_bytes": 60, "input_bytes": 32, "output_bytes": 24,
  "compulsory_bytes": 116,
  "arithmetic_intensity": {"value": 0.5, "unit": "flop/byte", "source": "analytic",
                           "quality": "exact", "reason": null},
  "cost_reason": null)";

const char* const kOddLayer = R"(
  "index": 1, "name": "odd \"one\",\n", "op": "Mystery", "path": "1", "fused": [], "stands_for": [], "input_shapes": [[2, 3]],
  "output_shapes": [[2, 3]], "parameter_count": 0,
  "mac_count": null, "valid_tap_mac_count": null, "flop_count": null, "flop_count_2mac": null,
  "flop_classes": null, "int_op_count": null, "weight_bytes": null, "input_bytes": null,
  "output_bytes": null, "compulsory_bytes": null,
  "arithmetic_intensity": {"value": null, "unit": "flop/byte", "source": "analytic",
      "quality": null, "reason": "NO_COST_RULE: no rule gives the cost of the operator Mystery"},
  "cost_reason": "NO_COST_RULE: no rule gives the cost of the operator Mystery")";

TEST(AnalysisDocument, IsTheContracts) {
  ExpectSame(AnalysisDocument("analyze", Analysis()),
             std::string(R"({"schema_version": 1, "command": "analyze",)") + kModelAndTotals +
                 R"(}, "layers": [{)" + kLinearLayer + "}, {" + kOddLayer + "}]}");
}

std::string Absent(const std::string& name, const std::string& unit, const std::string& source,
                   const std::string& reason) {
  return "\"" + name + R"(": {"value": null, "unit": ")" + unit + R"(", "source": ")" + source +
         R"(", "quality": null, "reason": ")" + reason + "\"}";
}

// What the fixture's host cannot count, and what this build cannot.
std::string AbsentCounts() {
  const std::string no_pmu = "NO_PMU: no PMU here";
  const std::string no_executed = "NOT_IN_BUILD: this build does not count executed instructions";
  return R"("counters": {)" + Absent("flops", "flop", "papi", no_pmu) + "," +
         Absent("cycles", "cycle", "papi", no_pmu) + "," +
         Absent("instructions", "count", "papi", no_pmu) + "," +
         Absent("l1d_misses", "count", "papi", no_pmu) + "," +
         Absent("l2_misses", "count", "papi", no_pmu) + "," +
         Absent("l3_misses", "count", "papi", no_pmu) + "," +
         Absent("dram_bytes", "byte", "papi", no_pmu) + "," +
         Absent("flops_single", "flop", "papi", no_pmu) + "," +
         Absent("flops_double", "flop", "papi", no_pmu) + "," +
         Absent("stall_cycles", "cycle", "papi", no_pmu) + "," +
         Absent("branch_misses", "count", "papi", no_pmu) + "," +
         Absent("dtlb_misses", "count", "papi", no_pmu) + R"(}, "executed": {)" +
         Absent("flops_intel", "flop", "executed", no_executed) + "," +
         Absent("flops_amd", "flop", "executed", no_executed) + "," +
         Absent("flops_algorithmic", "flop", "executed", no_executed) + "," +
         Absent("instructions", "count", "executed", no_executed) +
         R"(, "state": "unsupported", "reason": ")" + no_executed + "\"}";
}

const char* const kRatios = R"(
  "measured_to_analytic": {"value": null, "unit": "ratio", "source": "papi", "quality": null,
                           "reason": "NO_PMU: no PMU here"},
  "measured_intensity": {"value": null, "unit": "flop/byte", "source": "papi", "quality": null,
                         "reason": "NO_PMU: no PMU here"},
  "gap": [],)";

TEST(RunDocument, AMissingPercentileSaysWhatItWants) {
  v1::Run run = SucceededRun();
  v1::TimeStats& time = *run.mutable_report()->mutable_time();
  time.set_n(12);
  time.clear_p95_ns();
  time.clear_p99_ns();
  const Json document = RunDocument("profile", run)["totals"]["time"];
  EXPECT_EQ(document["p90_ns"], 4000.0);
  EXPECT_EQ(document["p95_ns"], nullptr);
  EXPECT_EQ(document["p99_ns"], nullptr);
  EXPECT_EQ(document["reason"],
            "FEW_PASSES: 12 passes, and p90_ns wants 10, p95_ns 20, p99_ns 100");
}

TEST(RunDocument, HoldsWhatALayerMeasured) {
  const Json document = RunDocument("profile", SucceededRun());
  ExpectSame(document["layers"][0], std::string("{") + kLinearLayer + R"(,
    "backend": "eigen", "implementation": "gemm", "folded_flop_count": 0, "kernels_tried": [],
    "time": {"median_ns": 3000.0, "mad_ns": 10.0, "min_ns": 3000.0, "p90_ns": 3000.0,
             "p95_ns": 3000.0, "p99_ns": 3000.0, "ci_low_ns": 2250.0, "ci_high_ns": 3750.0, "n": 150,
             "outliers": 2, "first_pass_ns": 9000.0, "trimmed_mean_ns": 3000.0, "reason": null},)" +
                                        AbsentCounts() + R"(,
    "flops_per_second": {"value": 18000000.0, "unit": "flop/s", "source": "derived",
                         "quality": "good", "reason": null},)" +
                                        kRatios + R"(
    "bound": {"flops_per_second": 36000000.0, "limiter": "DRAM", "percent_of_bound": 50.0,
              "ridge_margin": 0.25, "label": "memory", "bound_ns": 1500.0, "warning": null,
              "reason": null},
    "memory": {"activation_bytes": 56, "scratch_bytes": 0, "peak_bytes": 56,
               "packed_weight_bytes": 32, "reason": null},
    "advice": [{"kind": "batch", "speedup": 1.5, "max_speedup": 2.0, "why": "weights are 52 % of the traffic"}]})");
}

TEST(RunDocument, KeepsTheNoteOfACount) {
  v1::Run run = SucceededRun();
  v1::Quantity& bytes = *run.mutable_report()->mutable_counters()->mutable_dram_bytes();
  bytes.set_note("NO_UNCORE: no controllers");
  ExpectSame(RunDocument("profile", run)["totals"]["counters"]["dram_bytes"],
             R"({"value": null, "unit": "byte", "source": "papi", "quality": null,
                 "reason": "NO_PMU: no PMU here", "note": "NO_UNCORE: no controllers"})");
  bytes.set_value(640);
  bytes.set_source(v1::SOURCE_PERF_EVENT);
  bytes.set_quality(v1::QUALITY_GOOD);
  bytes.clear_reason();
  bytes.set_formula("memory controllers: a + b");
  bytes.set_note("whole socket");
  ExpectSame(RunDocument("profile", run)["totals"]["counters"]["dram_bytes"],
             R"({"value": 640, "unit": "byte", "source": "perf_event", "quality": "good",
                 "reason": null, "formula": "memory controllers: a + b", "note": "whole socket"})");
}

TEST(RunDocument, GivesAReasonForWhatALayerLacks) {
  const Json layer = RunDocument("profile", SucceededRun())["layers"][1];
  ExpectSame(layer["bound"],
             R"({"flops_per_second": null, "limiter": null, "percent_of_bound": null,
    "ridge_margin": null, "label": null, "bound_ns": null, "warning": null,
    "reason": "NO_ROOFLINE: no roofline was measured for this ISA and number of threads; `tinyprof-client roofline --measure` measures it"})");
  ExpectSame(layer["flops_per_second"], R"({"value": null, "unit": "flop/s", "source": "derived",
    "quality": null, "reason": "NO_COST_RULE: no FLOPs known"})");
  EXPECT_EQ(layer["implementation"], nullptr);
}

TEST(RunDocument, HoldsTheRunAndItsTotals) {
  const Json document = RunDocument("profile", SucceededRun());
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"schema_version", "command", "convention", "model",
                                            "totals", "run", "host", "layers"}));
  ExpectSame(document["run"], R"json({"id": "r-1", "state": "SUCCEEDED", "model": "linear(4,3)",
    "backend": "eigen", "conv_algorithm": "direct", "fuse": false, "isa": "avx2", "threads": 1, "cpus": [1], "cache": "warm",
    "counter_source": "none", "created_time": "2023-11-14T22:13:20Z", "started_time": null,
    "ended_time": null, "duration_ns": 2000000,
    "passes": {"warmup": 3, "timing": 50, "counting": 0, "discarded": 1},
    "warnings": ["the clock is not fixed"], "error": null, "stopped_by": "precision",
    "compiler": "gcc 12.2",
    "machine": {"clock_hz": 3000000000.0, "load_average": 0.5, "ping_pong_before_ns": null,
                "ping_pong_after_ns": null,
                "ping_pong_reason": "NOT_APPLICABLE: the run had one thread", "huge_pages": "madvise", "steal_ns": null},
    "trust": {"complete": true, "elapsed_ns": 5000.0, "rows": [
      {"loop": "avx2_add_float32", "metric": "flops", "formula": "FLOPS:ANY", "iterations": 100,
       "expected_low": 800.0, "expected": 800.0, "expected_high": 800.0, "measured": 796.0,
       "spread": 0.25, "quality": "good", "reason": null}]}})json");
  ExpectSame(document["totals"]["overhead"], R"({"read_cost_ns": 25.0, "unattributed_ns": 100.0,
    "instrumented_to_bare": 1.025, "instrumented_pass_ns": 4100.0, "counter_read_border_ns": null,
    "counter_read_thread_ns": null, "counter_read_events": 0,
    "counter_read_reason": "NOT_COUNTED: no hardware event was counted", "dispatch_ns": 45.0,
    "team_dispatch_ns": null, "dispatch_reason": null,
    "team_dispatch_reason": "NOT_APPLICABLE: the run had one thread"})");
  ExpectSame(document["totals"]["tinytorch"], R"({"gflops_per_second": 0.0125,
    "memory_bandwidth_mbs": 2.5, "bottleneck": "memory"})");
  ExpectSame(document["totals"]["software"]["page_faults"], R"({"value": 0, "unit": "count",
    "source": "software", "quality": "exact", "reason": null})");
  EXPECT_EQ(document["host"]["governor"], nullptr);
  EXPECT_EQ(document["host"]["unknown"]["governor"], "NO_CPUFREQ: no cpufreq here");
}

TEST(RunDocument, IsWholeWhenTheRunFailed) {
  EXPECT_EQ(Dump(RunDocument("profile", RunInState(v1::RUN_STATE_FAILED))), R"text({
  "schema_version": 1,
  "command": "profile",
  "run": {
    "id": "r-1",
    "state": "FAILED",
    "model": "linear(4,3)",
    "backend": "eigen",
    "conv_algorithm": "direct",
    "fuse": false,
    "isa": "native",
    "threads": 1,
    "cpus": null,
    "cache": "warm",
    "counter_source": null,
    "created_time": "2023-11-14T22:13:20Z",
    "started_time": null,
    "ended_time": null,
    "duration_ns": null,
    "passes": null,
    "warnings": [],
    "error": {
      "reason": "OUT_OF_MEMORY",
      "message": "the worker needs more than 1 GiB",
      "layer": "fc"
    }
  }
}
)text");
}

TEST(Documents, WriteNoInfinityAndNoBrokenText) {
  v1::Run run = SucceededRun();
  const double infinity = std::numeric_limits<double>::infinity();
  run.mutable_report()->mutable_overhead()->set_instrumented_to_bare(infinity);
  run.mutable_report()->mutable_flops_per_second()->set_value(-infinity);
  run.mutable_report()->set_backend("ei\"gen\x01\xff");
  const std::string text = Dump(RunDocument("profile", run));
  const Json parsed = Json::parse(text);
  EXPECT_EQ(parsed["totals"]["overhead"]["instrumented_to_bare"], nullptr);
  EXPECT_EQ(parsed["totals"]["flops_per_second"]["value"], nullptr);
  EXPECT_TRUE(parsed["totals"]["flops_per_second"]["reason"].is_string());
  EXPECT_EQ(parsed["run"]["backend"], "ei\"gen\x01\xef\xbf\xbd");
}

TEST(Documents, DescribeTheMachineAndItsChecks) {
  v1::DiagnoseResponse doctor;
  v1::Check& check = *doctor.add_checks();
  check.set_name("paranoid");
  check.set_state(v1::CHECK_STATE_FAIL);
  check.set_found("4");
  check.set_why("no event may be opened");
  check.set_fix("sudo sysctl kernel.perf_event_paranoid=2");
  ExpectSame(DoctorDocument(doctor), R"({"schema_version": 1, "command": "doctor", "checks": [
    {"name": "paranoid", "state": "fail", "found": "4", "why": "no event may be opened",
     "fix": "sudo sysctl kernel.perf_event_paranoid=2"}]})");

  v1::VerifyModelResponse verify;
  verify.set_rtol(1e-3);
  verify.set_atol(1e-7);
  v1::VerifiedOutput& output = *verify.add_outputs();
  output.set_name("y");
  output.add_shape(2);
  output.set_note("the shape differs");
  ExpectSame(VerifyDocument(verify), R"({"schema_version": 1, "command": "verify", "outputs": [
    {"name": "y", "shape": [2], "max_abs_error": null,
     "max_abs_error_reason": "NOT_COMPARED: the shape differs", "max_rel_error": null,
     "max_rel_error_reason": "NOT_COMPARED: the shape differs", "ok": false,
     "note": "the shape differs", "outside_count": null, "worst": null}],
    "rtol": 0.001, "atol": 1e-7, "ok": false})");
  output.clear_note();
  output.set_outside_count(1);
  output.mutable_worst()->add_index(1);
  output.mutable_worst()->set_got(5);
  output.mutable_worst()->set_want(4);
  output.mutable_worst()->set_allowed(0.25);
  EXPECT_EQ(VerifyDocument(verify)["outputs"][0]["worst"],
            Json::parse(R"({"index": [1], "got": 5.0, "got_reason": null, "want": 4.0,
                            "want_reason": null, "allowed_abs_error": 0.25})"));
  EXPECT_THAT(VerifyText(verify, {}),
              testing::HasSubstr("y: 1 element outside; the worst is y[1]: got 5, want 4, "
                                 "difference 1 where 0.25 is allowed\n"
                                 "outputs differ by more than the tolerance: |got - want| up to "
                                 "1e-07 + 0.001 |want|\n"));

  const double infinity = std::numeric_limits<double>::infinity();
  output.mutable_worst()->set_got(-infinity);
  output.mutable_worst()->set_want(std::numeric_limits<double>::quiet_NaN());
  output.set_max_abs_error(infinity);
  output.set_max_rel_error(0.5);
  const Json odd = VerifyDocument(verify)["outputs"][0];
  EXPECT_EQ(odd["worst"]["got"], nullptr);
  EXPECT_EQ(odd["worst"]["got_reason"],
            "NOT_FINITE: it is minus infinity, for which JSON has no number");
  EXPECT_EQ(odd["worst"]["want_reason"], "NOT_FINITE: it is NaN, for which JSON has no number");
  EXPECT_EQ(odd["max_abs_error_reason"],
            "NOT_FINITE: it is infinity, for which JSON has no number");
  EXPECT_EQ(odd["max_rel_error_reason"], nullptr);

  ExpectSame(
      ErrorDocument("show", {ErrorCode::kNotFound, "RUN_UNKNOWN", "no run x", {{"id", "x"}}}),
      R"({"schema_version": 1, "command": "show", "error": {"code": "NOT_FOUND",
                 "reason": "RUN_UNKNOWN", "message": "no run x", "metadata": {"id": "x"}}})");
}

TEST(CountersDocument, SaysWhenItWasFoundOut) {
  v1::ListCountersResponse response;
  EXPECT_TRUE(CountersDocument(response)["calibrate_time"].is_null());
  // 2026-11-30 12:00:00 UTC.
  response.mutable_calibrate_time()->set_seconds(1796040000);
  EXPECT_EQ(CountersDocument(response)["calibrate_time"], "2026-11-30T12:00:00Z");
}

}  // namespace
}  // namespace tinyprof::client
