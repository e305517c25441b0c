// How a run changes state. Pure functions on v1::Run.
#pragma once

#include "kernels/base/error.h"
#include "tinyprof/v1/run.pb.h"

namespace tinyprof {

bool IsEnded(v1::RunState state);

// QUEUED, created now.
v1::Run NewRun(std::string id, v1::RunSpec spec);
// RUNNING since now, in the phase "starting".
void SetRunning(v1::Run& run);
// SUCCEEDED now.
void SetSucceeded(v1::Run& run, v1::RunReport report);
// CANCELLED now for an error of code kCancelled, else FAILED; metadata "layer" names the layer.
void SetError(v1::Run& run, const Error& error);

}  // namespace tinyprof
