#include "daemon/jobs/model_reader.h"

#include <chrono>
#include <utility>

#include "daemon/jobs/outcome.h"

namespace tinyprof {
namespace {

// A file of 2 GB takes a few seconds.
constexpr std::chrono::seconds kReadTimeout{60};

}  // namespace

Status ModelReader::Check(int fd) {
  TINYPROF_RETURN_IF_ERROR(Read({}, fd));
  return {};
}

Result<v1::ModelAnalysis> ModelReader::Analyze(const v1::ModelSpec& spec, int fd) {
  worker::AnalyzeTask task;
  *task.mutable_model() = spec;
  return Read(task, fd);
}

Result<v1::ModelAnalysis> ModelReader::Read(const worker::AnalyzeTask& task, int fd) {
  const std::lock_guard lock(reading_);
  if (stop_.stop_requested()) return tl::unexpected(ShuttingDown());
  WorkerTask reading{.model_fd = fd, .deadline = std::chrono::steady_clock::now() + kReadTimeout};
  reading.request.set_memory_limit_bytes(memory_limit_bytes_);
  reading.request.set_has_model_file(true);
  *reading.request.mutable_analyze() = task;
  Result<worker::WorkerEvent> event = runner_.Run(reading, {}, stop_.get_token());
  if (!event.has_value() && stop_.stop_requested()) return tl::unexpected(ShuttingDown());
  TINYPROF_RETURN_IF_ERROR(event);
  if (!event->has_analysis()) return WrongOutcome("analysis");
  return std::move(*event->mutable_analysis());
}

}  // namespace tinyprof
