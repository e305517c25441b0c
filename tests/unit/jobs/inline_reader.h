// A runner that reads uploaded files in this process.
#pragma once

#include "daemon/convert/analysis.h"
#include "daemon/model/onnx_import.h"
#include "daemon/worker/task_runner.h"
#include "kernels/base/check.h"

namespace tinyprof {

class InlineReader final : public TaskRunner {
 public:
  Result<worker::WorkerEvent> Run(const WorkerTask& task, const ProgressFn& /*on_progress*/,
                                  std::stop_token /*cancel*/) override {
    TINYPROF_CHECK(task.request.has_analyze());
    worker::WorkerEvent event;
    v1::ModelAnalysis& analysis = *event.mutable_analysis();
    if (!task.request.analyze().has_model()) {
      TINYPROF_RETURN_IF_ERROR(CheckOnnxFd(task.model_fd));
      return event;
    }
    TINYPROF_ASSIGN_OR_RETURN(analysis, AnalyzeSpec(task.request.analyze().model(), task.model_fd));
    return event;
  }
};

}  // namespace tinyprof
