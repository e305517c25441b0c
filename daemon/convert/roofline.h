// The measured ceilings: Roofline to and from v1::Roofline.
#pragma once

#include "daemon/roofline/roofline.h"
#include "tinyprof/v1/host.pb.h"

namespace tinyprof {

v1::Roofline ToProto(const Roofline& roofline);

// What bounds are computed from: ceilings, ridges and the sizes of the host's caches. The rest of
// the host stays absent. A ceiling whose level, operation or dtype this version does not know is
// left out.
Roofline FromProto(const v1::Roofline& message);

}  // namespace tinyprof
