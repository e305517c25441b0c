// Known work that also declares itself to a stand-in PMU, so that events can be tried there.
#pragma once

#include "daemon/counters/known_work.h"

namespace tinyprof {

// `work`, each of whose functions declares what it counts after it ran.
KnownWork Declaring(KnownWork work);

}  // namespace tinyprof
