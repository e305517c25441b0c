// Whether a roofline that could be read makes sense: a store may have been damaged or edited. Pure.
#pragma once

#include "tinyprof/v1/host.pb.h"

namespace tinyprof {

// Whether its time, clock and ceilings can be those of a machine; every number that bounds divide
// by is positive and finite then.
bool IsSound(const v1::Roofline& roofline);

}  // namespace tinyprof
