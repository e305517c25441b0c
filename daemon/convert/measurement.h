// What a run measured: RunMeasurement to the measured fields of v1::RunReport, and the options of a
// run from v1::RunSpec.
#pragma once

#include "daemon/measure/measure.h"
#include "kernels/base/error.h"
#include "kernels/runtime/session.h"
#include "tinyprof/v1/run.pb.h"

namespace tinyprof {

// Unspecified values mean their defaults.
Backend FromProto(v1::Backend backend);
ConvAlgorithm FromProto(v1::ConvAlgorithm algorithm);
// `cpus` are those of the team, one a thread. `spec` was checked.
MeasureOptions MeasureOptionsOf(const v1::RunSpec& spec, std::vector<int> cpus);

// What is no finite number becomes absent.
v1::Quantity ToProto(const Quantity& quantity);
v1::TimeStats ToProto(const TimeStats& stats);
v1::Progress ToProto(const ProgressUpdate& update);

// Adds times, counts, memory and implementations to `report`, whose layers already hold the
// analysis of `session`'s graph, one a node in order.
void AddMeasurement(const Session& session, const RunMeasurement& measured, v1::RunReport& report);

}  // namespace tinyprof
