// A run written by hand: Linear(4, 3) on 2 x 4 and a Relu, on a machine without hardware counters.
#pragma once

#include <string>

#include "tinyprof/v1/service.pb.h"

namespace tinyprof::client {

// Its two layers take 3 µs and 1 µs; the first is bound by memory, the second by nothing known.
v1::Run SucceededRun();

// The same with 12 MiB of memory traffic that the kernel's counters gave.
v1::Run RunWithTraffic(const std::string& formula, const std::string& note);

// The analysis of the same model, with its layers.
v1::ModelAnalysis Analysis();

v1::Run RunInState(v1::RunState state);

}  // namespace tinyprof::client
