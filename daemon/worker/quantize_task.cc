#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "daemon/convert/model_spec.h"
#include "daemon/convert/quantization.h"
#include "daemon/model/onnx_export.h"
#include "daemon/model/onnx_upgrade.h"
#include "daemon/worker/protocol.h"
#include "daemon/worker/tasks.h"
#include "kernels/quantization/quantize.h"
#include "kernels/runtime/isa.h"

namespace tinyprof {
namespace {

Status WriteOutput(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(kOutputFd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return Fail(ErrorCode::kResourceExhausted, "RESULT_NOT_KEPT",
                  fmt::format("the daemon cannot keep the quantized model until it is sent: {}",
                              std::strerror(errno)),
                  {{"errno", std::to_string(errno)}});
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status WriteModel(const Graph& graph) {
  // A limit of file size is then an error of write().
  ::signal(SIGXFSZ, SIG_IGN);
  return ExportOnnx(graph, WriteOutput);
}

}  // namespace

Result<worker::WorkerEvent> RunQuantizeTask(const worker::WorkerRequest& request,
                                            EventSender& sender) {
  const v1::QuantizeModelRequest& task = request.quantize();
  TINYPROF_ASSIGN_OR_RETURN(const Graph given,
                            BuildGraph(task.model(), request.has_model_file() ? kModelFd : -1));
  TINYPROF_ASSIGN_OR_RETURN(const Graph graph, UpgradedGraph(given));
  TINYPROF_ASSIGN_OR_RETURN(const Isa isa, ResolveIsa("native"));
  const QuantizeOptions options{
      .mode = FromProto(task.mode()),
      .session = {.backend = Backend::kEigen,
                  .isa = isa,
                  .threads = request.cpus_size(),
                  .memory_limit_bytes = request.memory_limit_bytes()},
      .seed = FromProto(task.model()).seed,
      .samples = task.samples(),
      .on_progress = [&](std::string_view phase, int64_t done, int64_t total) {
        v1::Progress progress;
        progress.set_phase(std::string(phase));
        progress.set_done(static_cast<int32_t>(done));
        progress.set_total(static_cast<int32_t>(total));
        sender.Progress(progress);
      }};
  TINYPROF_ASSIGN_OR_RETURN(QuantizedModel model, QuantizeModel(graph, options));
  model.graph.quantized = FactsOf(model, task.model().text(), options.mode);
  sender.Phase("writing");
  TINYPROF_RETURN_IF_ERROR(WriteModel(model.graph));

  worker::WorkerEvent event;
  v1::QuantizationReport& report = *event.mutable_quantized();
  report = ToProto(model);
  *report.mutable_quantization() = ToProto(*model.graph.quantized);
  const bool calibrates = options.mode == QuantizationMode::kStatic;
  report.set_sample_count(calibrates ? static_cast<int32_t>(options.samples) : 0);
  report.set_held_out_sample_count(static_cast<int32_t>(options.held_out));
  return event;
}

}  // namespace tinyprof
