// What PAPI 7.0.0's error codes mean for a profiler. PAPI folds several causes into one code, so
// what was asked, the raw probe of the kernel and the event by itself decide: -7 is "libpfm4 knows
// no such name", "this CPU has no such event", "there is no PMU" and "PAPI is switched off".
#pragma once

#include <string>
#include <string_view>

#include "daemon/counters/counter_errors.h"
#include "kernels/base/error.h"

namespace tinyprof {

// Which call of PAPI answered.
enum class PapiCall { kLookUp, kAdd, kStart, kRead, kStop, kOther };

// The error for `papi_code` (negative), got by `call` for `event`. In `context`,
// hardware_event_errno must be asked anew when PAPI answers "system error" while it adds or starts.
Error PapiError(int papi_code, PapiCall call, const RefusedEvent& event,
                const RefusalContext& context);

// The error of PAPI_library_init that answered `answer` instead of the version asked for.
// `installed_version` is what the library says of itself, in PAPI's encoding; 0: it does not say.
Error PapiInitError(int answer, int installed_version);

// "7.0.0.0" of PAPI's encoding.
std::string PapiVersionText(int version);

}  // namespace tinyprof
