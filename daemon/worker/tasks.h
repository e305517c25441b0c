// What a worker can do, one file each. Called on the master of the pinned team, where there is one.
#pragma once

#include "daemon/worker/event_sender.h"
#include "kernels/base/error.h"
#include "worker.pb.h"

namespace tinyprof {

// Loads, analyses, measures: a RunReport without host and bounds.
Result<worker::WorkerEvent> RunProfileTask(const worker::WorkerRequest& request,
                                           EventSender& sender);
// Measures the ceilings of this machine.
Result<worker::WorkerEvent> RunRooflineTask(const worker::WorkerRequest& request,
                                            EventSender& sender);
// Tries every counter, and says why some cannot be had.
Result<worker::WorkerEvent> RunCountersTask();
// Says what stands in the way of counting and of quiet measuring just now. Before anything else of
// the process asks PAPI.
Result<worker::WorkerEvent> RunDiagnosisTask(const worker::DiagnosisTask& task);
// Counts an uploaded model, or only checks its file.
Result<worker::WorkerEvent> RunAnalyzeTask(const worker::WorkerRequest& request);
// Runs a model once on given inputs and compares its outputs.
Result<worker::WorkerEvent> RunVerifyTask(const worker::WorkerRequest& request);
// Quantizes a model, writes it to kOutputFd as ONNX and says what that did to it.
Result<worker::WorkerEvent> RunQuantizeTask(const worker::WorkerRequest& request,
                                            EventSender& sender);

}  // namespace tinyprof
