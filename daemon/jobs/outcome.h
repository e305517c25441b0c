// Errors of a worker that keeps to the protocol but not to its task.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "kernels/base/error.h"

namespace tinyprof {

inline tl::unexpected<Error> WrongOutcome(std::string_view wanted) {
  return Fail(ErrorCode::kInternal, "WORKER_PROTOCOL",
              fmt::format("the worker sent another result than the {} it was asked for", wanted));
}

}  // namespace tinyprof
