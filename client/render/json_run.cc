// The documents of runs.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include "client/render/json_parts.h"
#include "client/render/names.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

constexpr const char* kNoDispatchReason =
    "NOT_MEASURED: the run did not measure what starting a layer takes";
constexpr const char* kOneThreadReason = "NOT_APPLICABLE: the run had one thread";
constexpr const char* kNotReported = "NOT_REPORTED: the daemon did not report it";

Json ReasonUnless(bool present, const char* reason) {
  return present ? Json(nullptr) : Json(reason);
}

// Why percentiles are absent; null when none is.
Json MissingPercentiles(const v1::TimeStats& time) {
  if (time.has_p99_ns()) return nullptr;
  return fmt::format("FEW_PASSES: {}, and p90_ns wants 10, p95_ns 20, p99_ns 100",
                     Counted(time.n(), "pass", "passes"));
}

Json TimeJson(const v1::TimeStats* time) {
  const auto number = [time](double value) {
    return time == nullptr ? Json(nullptr) : Number(value);
  };
  const v1::TimeStats& t = time == nullptr ? v1::TimeStats::default_instance() : *time;
  return {{"median_ns", number(t.median_ns())},
          {"mad_ns", number(t.mad_ns())},
          {"min_ns", number(t.min_ns())},
          {"p90_ns", OptionalNumber(t.has_p90_ns(), t.p90_ns())},
          {"p95_ns", OptionalNumber(t.has_p95_ns(), t.p95_ns())},
          {"p99_ns", OptionalNumber(t.has_p99_ns(), t.p99_ns())},
          {"ci_low_ns", number(t.ci_low_ns())},
          {"ci_high_ns", number(t.ci_high_ns())},
          {"n", t.n()},
          {"outliers", t.outliers()},
          {"first_pass_ns", number(t.first_pass_ns())},
          {"trimmed_mean_ns", number(t.trimmed_mean_ns())},
          {"reason", time == nullptr ? Json(kNotReported) : MissingPercentiles(t)}};
}

Json CountersJson(const v1::Counters& counters) {
  return {{"flops", QuantityJson(counters.flops())},
          {"cycles", QuantityJson(counters.cycles())},
          {"instructions", QuantityJson(counters.instructions())},
          {"l1d_misses", QuantityJson(counters.l1d_misses())},
          {"l2_misses", QuantityJson(counters.l2_misses())},
          {"l3_misses", QuantityJson(counters.l3_misses())},
          {"dram_bytes", QuantityJson(counters.dram_bytes())},
          {"flops_single", QuantityJson(counters.flops_single())},
          {"flops_double", QuantityJson(counters.flops_double())},
          {"stall_cycles", QuantityJson(counters.stall_cycles())},
          {"branch_misses", QuantityJson(counters.branch_misses())},
          {"dtlb_misses", QuantityJson(counters.dtlb_misses())}};
}

Json ExecutedJson() {
  Json json;
  for (const char* name : {"flops_intel", "flops_amd", "flops_algorithmic"}) {
    json[name] = AbsentQuantity("flop", "executed", kNoExecutedReason);
  }
  json["instructions"] = AbsentQuantity("count", "executed", kNoExecutedReason);
  json["state"] = "unsupported";
  json["reason"] = kNoExecutedReason;
  return json;
}

Json BoundJson(const v1::Bound* bound) {
  const v1::Bound& b = bound == nullptr ? v1::Bound::default_instance() : *bound;
  Json reason = nullptr;
  if (bound == nullptr) {
    reason = kNoBoundReason;
  } else if (!b.reason().empty()) {
    reason = b.reason();
  } else if (!b.has_flops_per_second()) {
    reason = "NO_FLOPS: a layer without FLOPs has no FLOP/s bound";
  }
  return {{"flops_per_second", OptionalNumber(b.has_flops_per_second(), b.flops_per_second())},
          {"limiter", TextOrNull(b.limiter())},
          {"percent_of_bound", OptionalNumber(b.has_percent_of_bound(), b.percent_of_bound())},
          {"ridge_margin", OptionalNumber(b.has_ridge_margin(), b.ridge_margin())},
          {"label", TextOrNull(b.label())},
          {"bound_ns", OptionalNumber(bound != nullptr, b.bound_ns())},
          {"warning", TextOrNull(b.warning())},
          {"reason", std::move(reason)}};
}

Json MemoryJson(const v1::LayerMemory* memory) {
  if (memory == nullptr) {
    return {{"activation_bytes", nullptr},
            {"scratch_bytes", nullptr},
            {"peak_bytes", nullptr},
            {"packed_weight_bytes", nullptr},
            {"reason", kNotReported}};
  }
  return {{"activation_bytes", memory->activation_bytes()},
          {"scratch_bytes", memory->scratch_bytes()},
          {"peak_bytes", memory->peak_bytes()},
          {"packed_weight_bytes", memory->packed_weight_bytes()},
          {"reason", nullptr}};
}

Json GapJson(const google::protobuf::RepeatedPtrField<v1::GapClass>& gap) {
  Json list = Json::array();
  for (const auto& part : gap) {
    list.push_back(
        {{"class", part.name()}, {"flops", Number(part.flops())}, {"note", part.note()}});
  }
  return list;
}

Json AdviceJson(const google::protobuf::RepeatedPtrField<v1::Advice>& advice) {
  Json list = Json::array();
  for (const auto& item : advice) {
    list.push_back({{"kind", item.kind()},
                    {"speedup", item.has_speedup() ? Number(item.speedup()) : Json(nullptr)},
                    {"max_speedup", Number(item.max_speedup())},
                    {"why", item.why()}});
  }
  return list;
}

Json KernelsTriedJson(const v1::LayerReport& layer) {
  Json list = Json::array();
  for (const auto& tried : layer.kernels_tried()) {
    list.push_back({{"backend", tried.backend()},
                    {"implementation", tried.implementation()},
                    {"median_ns", Number(tried.median_ns())},
                    {"reorder_ns", Number(tried.reorder_ns())}});
  }
  return list;
}

// What a layer and the whole model report in the same way.
template <class Report>
void AddMeasured(const Report& report, Json& target) {
  target["time"] = TimeJson(report.has_time() ? &report.time() : nullptr);
  target["counters"] = CountersJson(report.counters());
  target["executed"] = ExecutedJson();
  target["flops_per_second"] = QuantityJson(report.flops_per_second());
  target["measured_to_analytic"] = QuantityJson(report.measured_to_analytic());
  target["measured_intensity"] = QuantityJson(report.measured_intensity());
  target["gap"] = GapJson(report.gap());
  target["bound"] = BoundJson(report.has_bound() ? &report.bound() : nullptr);
  target["memory"] = MemoryJson(report.has_memory() ? &report.memory() : nullptr);
  target["advice"] = AdviceJson(report.advice());
}

void AddRunTotals(const v1::RunReport& report, Json& totals) {
  AddMeasured(report, totals);
  const v1::Overhead& overhead = report.overhead();
  totals["overhead"] = {
      {"read_cost_ns", Number(overhead.read_cost_ns())},
      {"unattributed_ns", Number(overhead.unattributed_ns())},
      {"instrumented_to_bare", Number(overhead.instrumented_to_bare())},
      {"instrumented_pass_ns", Number(overhead.instrumented_pass_ns())},
      {"counter_read_border_ns",
       OptionalNumber(overhead.has_counter_read_border_ns(), overhead.counter_read_border_ns())},
      {"counter_read_thread_ns",
       OptionalNumber(overhead.has_counter_read_thread_ns(), overhead.counter_read_thread_ns())},
      {"counter_read_events", overhead.counter_read_events()},
      {"counter_read_reason", ReasonUnless(overhead.has_counter_read_border_ns(),
                                           "NOT_COUNTED: no hardware event was counted")},
      {"dispatch_ns", OptionalNumber(overhead.has_dispatch_ns(), overhead.dispatch_ns())},
      {"team_dispatch_ns",
       OptionalNumber(overhead.has_team_dispatch_ns(), overhead.team_dispatch_ns())},
      {"dispatch_reason", ReasonUnless(overhead.has_dispatch_ns(), kNoDispatchReason)},
      {"team_dispatch_reason",
       ReasonUnless(overhead.has_team_dispatch_ns(),
                    report.threads() > 1 ? kNoDispatchReason : kOneThreadReason)}};
  const v1::TinyTorchFigures& course = report.tinytorch();
  totals["tinytorch"] = {{"gflops_per_second", Number(course.gflops_per_second())},
                         {"memory_bandwidth_mbs", Number(course.memory_bandwidth_mbs())},
                         {"bottleneck", TextOrNull(course.bottleneck())}};
  const v1::SoftwareEvents& software = report.software();
  totals["software"] = {{"task_clock", QuantityJson(software.task_clock())},
                        {"page_faults", QuantityJson(software.page_faults())},
                        {"context_switches", QuantityJson(software.context_switches())},
                        {"migrations", QuantityJson(software.migrations())}};
  totals["max_resident_bytes"] = report.max_resident_bytes();
}

Json ErrorOrNull(const v1::Run& run) {
  if (!run.has_error()) return nullptr;
  return {{"reason", run.error().reason()},
          {"message", run.error().message()},
          {"layer", TextOrNull(run.error().layer())}};
}

Json MachineJson(const v1::MachineState& machine, int32_t threads) {
  return {
      {"clock_hz", Number(machine.clock_hz())},
      {"load_average", Number(machine.load_average())},
      {"ping_pong_before_ns",
       OptionalNumber(machine.has_ping_pong_before_ns(), machine.ping_pong_before_ns())},
      {"ping_pong_after_ns",
       OptionalNumber(machine.has_ping_pong_after_ns(), machine.ping_pong_after_ns())},
      {"ping_pong_reason", ReasonUnless(machine.has_ping_pong_before_ns(),
                                        threads > 1 ? "NOT_MEASURED: a warning of the run says why"
                                                    : kOneThreadReason)},
      {"huge_pages", TextOrNull(machine.huge_pages())},
      {"steal_ns", OptionalNumber(machine.has_steal_ns(), machine.steal_ns())}};
}

// The run as it was asked for; what only a report knows is null.
Json AskedJson(const v1::Run& run) {
  const v1::RunSpec& spec = run.spec();
  return {{"id", run.id()},
          {"state", StateName(run.state())},
          {"model", spec.model().text()},
          {"backend", BackendName(spec.backend())},
          {"conv_algorithm", ConvAlgorithmName(spec.conv_algorithm())},
          {"fuse", spec.fuse()},
          {"isa", TextOrNull(spec.isa())},
          {"threads", spec.threads()},
          {"cpus", nullptr},
          {"cache", CacheName(spec.cache())},
          {"counter_source", nullptr},
          {"created_time", TimeOrNull(run.has_create_time(), run.create_time())},
          {"started_time", TimeOrNull(run.has_start_time(), run.start_time())},
          {"ended_time", TimeOrNull(run.has_end_time(), run.end_time())},
          {"duration_ns", nullptr},
          {"passes", nullptr},
          {"warnings", Json::array()},
          {"error", ErrorOrNull(run)}};
}

Json ReportedJson(const v1::Run& run) {
  const v1::RunReport& report = run.report();
  Json json = AskedJson(run);
  json["backend"] = report.backend();
  json["isa"] = report.isa();
  json["threads"] = report.threads();
  json["cpus"] = std::vector<int32_t>(report.cpus().begin(), report.cpus().end());
  json["cache"] = report.cache();
  json["counter_source"] = report.counter_source();
  json["duration_ns"] = report.duration_ns();
  json["passes"] = {{"warmup", report.passes().warmup()},
                    {"timing", report.passes().timing()},
                    {"counting", report.passes().counting()},
                    {"discarded", report.passes().discarded()}};
  json["warnings"] = std::vector<std::string>(report.warnings().begin(), report.warnings().end());
  json["stopped_by"] = TextOrNull(report.stopped_by());
  json["compiler"] = TextOrNull(report.compiler());
  json["machine"] = MachineJson(report.machine(), report.threads());
  json["trust"] = TrustJson(report.trust());
  return json;
}

}  // namespace

Json RunDocument(std::string_view command, const v1::Run& run) {
  Json document = NewDocument(command);
  if (!run.has_report()) {
    document["run"] = AskedJson(run);
    return document;
  }
  const v1::RunReport& report = run.report();
  AddAnalysisHead(report.analysis(), document);
  AddRunTotals(report, document["totals"]);
  document["run"] = ReportedJson(run);
  document["host"] = HostJson(report.host());
  Json& layers = document["layers"] = Json::array();
  for (const auto& layer : report.layers()) {
    Json json;
    AddLayerAnalysis(layer.analysis(), json);
    json["backend"] = TextOrNull(layer.backend());
    json["implementation"] = TextOrNull(layer.implementation());
    json["folded_flop_count"] = layer.folded_flop_count();
    json["kernels_tried"] = KernelsTriedJson(layer);
    AddMeasured(layer, json);
    layers.push_back(std::move(json));
  }
  return document;
}

Json RunListDocument(const std::vector<v1::Run>& runs) {
  Json document = NewDocument("list");
  Json& list = document["runs"] = Json::array();
  for (const auto& run : runs) list.push_back(AskedJson(run));
  return document;
}

}  // namespace tinyprof::client
