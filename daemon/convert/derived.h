// Figures that follow from the analytic and the measured side of a report by division.
#pragma once

#include "tinyprof/v1/run.pb.h"

namespace tinyprof {

// Fills flops_per_second, measured_to_analytic and measured_intensity of the model and of each
// layer from what the report already holds. What lacks an operand is absent, with the operand's
// reason.
void AddDerived(v1::RunReport& report);

}  // namespace tinyprof
