// What PAPI 7.0.0's error codes mean for a profiler. PAPI folds several causes into one code, so
// the context decides: -7 is both "this CPU has no such event" and "there is no PMU".
#pragma once

#include <string_view>

#include "daemon/counters/counter_errors.h"
#include "kernels/base/error.h"

namespace tinyprof {

// The error for `papi_code` (negative) got while `event` was looked up, added or counted; `event`
// may be empty for a whole group.
Error PapiError(int papi_code, std::string_view event, const RefusalContext& context);

}  // namespace tinyprof
