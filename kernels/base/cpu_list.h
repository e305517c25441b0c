// Lists of CPUs as the kernel and people write them.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

// "0", "1-3", "0-2,5": ascending, without doubles, CPU numbers below 4096. INVALID_ARGUMENT /
// "BAD_CPU_LIST" for anything else.
Result<std::vector<int>> ParseCpuList(std::string_view text);

}  // namespace tinyprof
