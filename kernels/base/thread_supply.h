// Whether a program can have the threads that it needs. To be checked first: libraries abort, or
// wait for ever, where they are refused one.
#pragma once

#include <string_view>

#include "kernels/base/error.h"

namespace tinyprof {

// Tries it, by starting that many at once and ending them: control groups limit threads beside the
// limit of the user, and what others have taken of either is not told. FAILED_PRECONDITION /
// "LIMIT_TOO_LOW", with the commands that raise the limits.
Status CheckThreadSupply(std::string_view program, int needed);

}  // namespace tinyprof
