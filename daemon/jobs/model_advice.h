// What following one kind of advice in every layer that has it gives the whole model.
#pragma once

#include "tinyprof/v1/run.pb.h"

namespace tinyprof {

// Fills the report's advice from that of its layers, largest gain first; only what is worth
// kMinSpeedup of the pass.
void AdviseModel(v1::RunReport& report);

}  // namespace tinyprof
