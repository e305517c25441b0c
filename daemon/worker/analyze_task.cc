#include "daemon/convert/analysis.h"
#include "daemon/model/onnx_import.h"
#include "daemon/worker/protocol.h"
#include "daemon/worker/tasks.h"

namespace tinyprof {

Result<worker::WorkerEvent> RunAnalyzeTask(const worker::WorkerRequest& request) {
  worker::WorkerEvent event;
  v1::ModelAnalysis& analysis = *event.mutable_analysis();
  if (!request.analyze().has_model()) {
    TINYPROF_RETURN_IF_ERROR(CheckOnnxFd(kModelFd));
    return event;
  }
  TINYPROF_ASSIGN_OR_RETURN(analysis, AnalyzeSpec(request.analyze().model(), kModelFd));
  return event;
}

}  // namespace tinyprof
