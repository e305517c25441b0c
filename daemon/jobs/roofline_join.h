// Puts a measured run under the roofline of its machine.
#pragma once

#include "tinyprof/v1/host.pb.h"
#include "tinyprof/v1/run.pb.h"

namespace tinyprof {

// Fills bound and advice of every layer and of the model in `report`, from the ceilings for the ISA
// and the threads it ran with, and adds a warning for what passes its bound. Where the roofline has
// no ceilings for them, bounds stay absent and a warning says so.
void JoinRoofline(const v1::Roofline& roofline, v1::RunReport& report);

// Fills the figures of the TinyTorch course: FLOPs of the whole batch (dimension 0 of the first
// input) and MiB of weights and arena, both over the median time.
void AddTinyTorchFigures(v1::RunReport& report);

}  // namespace tinyprof
