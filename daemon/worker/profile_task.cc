#include <fmt/format.h>

#include <chrono>

#include "daemon/convert/analysis.h"
#include "daemon/convert/counters.h"
#include "daemon/convert/derived.h"
#include "daemon/convert/measurement.h"
#include "daemon/convert/model_spec.h"
#include "daemon/counters/host_backend.h"
#include "daemon/measure/measure.h"
#include "daemon/worker/protocol.h"
#include "daemon/worker/tasks.h"
#include "kernels/runtime/isa.h"
#include "kernels/runtime/run_plan.h"
#include "kernels/runtime/session.h"
#include "kernels/zoo/analysis.h"

namespace tinyprof {
namespace {

std::string CompilerName() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

MeasureHooks HooksOf(const Graph& graph, EventSender& sender) {
  MeasureHooks hooks;
  hooks.entering_layer_first_time = [&](size_t node) {
    sender.EnteredLayer(graph.nodes[node].name);
  };
  // Progress is told from the warm-up on, when the first pass has been through every layer.
  hooks.progress = [&](const ProgressUpdate& update) {
    sender.EnteredLayer("");
    sender.Progress(ToProto(update));
  };
  return hooks;
}

// The kernels that each layer was tried with.
void AddTimings(const RunPlan& plan, v1::RunReport& report) {
  for (size_t node = 0; node < plan.timings.size(); ++node) {
    for (const KernelTiming& timing : plan.timings[node]) {
      v1::KernelTiming& message =
          *report.mutable_layers(static_cast<int>(node))->add_kernels_tried();
      message.set_backend(std::string(Name(timing.choice.backend)));
      message.set_implementation(timing.implementation);
      message.set_median_ns(timing.median_ns);
      message.set_reorder_ns(timing.reorder_ns);
    }
  }
}

// Moves the layers of the analysis into those of the report.
void AddAnalysis(v1::ModelAnalysis analysis, v1::RunReport& report) {
  for (v1::LayerAnalysis& layer : *analysis.mutable_layers()) {
    *report.add_layers()->mutable_analysis() = std::move(layer);
  }
  analysis.clear_layers();
  *report.mutable_analysis() = std::move(analysis);
}

void AddSettings(const worker::WorkerRequest& request, Isa isa, v1::RunReport& report) {
  const v1::RunSpec& spec = request.profile();
  report.set_backend(std::string(Name(FromProto(spec.backend()))));
  report.set_isa(std::string(Name(isa)));
  report.set_compiler(CompilerName());
  report.set_threads(spec.threads());
  *report.mutable_cpus() = request.cpus();
  report.set_cache(spec.cache() == v1::CACHE_MODE_COLD ? "cold" : "warm");
}

MeasureOptions OptionsOf(const worker::WorkerRequest& request) {
  MeasureOptions options =
      MeasureOptionsOf(request.profile(), {request.cpus().begin(), request.cpus().end()});
  if (request.has_known_counters()) {
    options.known_counters = FromProto(request.known_counters());
  }
  return options;
}

}  // namespace

Result<worker::WorkerEvent> RunProfileTask(const worker::WorkerRequest& request,
                                           EventSender& sender) {
  const auto start = std::chrono::steady_clock::now();
  const v1::RunSpec& spec = request.profile();
  sender.Phase("loading");
  TINYPROF_ASSIGN_OR_RETURN(Graph loaded,
                            BuildGraph(spec.model(), request.has_model_file() ? kModelFd : -1));
  TINYPROF_ASSIGN_OR_RETURN(const Isa isa, ResolveIsa(spec.isa()));
  const SessionOptions options{.backend = FromProto(spec.backend()),
                               .isa = isa,
                               .threads = spec.threads(),
                               .conv_algorithm = FromProto(spec.conv_algorithm()),
                               .choices = {},
                               .layouts = {},
                               .memory_limit_bytes = request.memory_limit_bytes()};
  if (options.backend == Backend::kBest) sender.Phase("choosing kernels");
  TINYPROF_ASSIGN_OR_RETURN(const RunPlan plan, PlanRun(std::move(loaded), options, spec.fuse()));
  const Graph& graph = plan.graph;
  TINYPROF_ASSIGN_OR_RETURN(const ModelAnalysis analysis, Analyze(graph));
  TINYPROF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                            Session::Create(graph, plan.options));
  const std::unique_ptr<CounterBackend> counters = MakeHostBackend(spec.threads());
  TINYPROF_ASSIGN_OR_RETURN(
      const RunMeasurement measured,
      Measure(*session, *counters, OptionsOf(request), HooksOf(graph, sender)));

  worker::WorkerEvent event;
  v1::RunReport& report = *event.mutable_report();
  AddAnalysis(ToProto(graph, analysis), report);
  AddSettings(request, isa, report);
  AddMeasurement(*session, measured, report);
  AddTimings(plan, report);
  AddDerived(report);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  report.set_duration_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
  return event;
}

}  // namespace tinyprof
