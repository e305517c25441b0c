// Errors that any task may end with.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "kernels/base/error.h"

namespace tinyprof {

// Of a worker that keeps to the protocol but not to its task.
inline tl::unexpected<Error> WrongOutcome(std::string_view wanted) {
  return Fail(ErrorCode::kInternal, "WORKER_PROTOCOL",
              fmt::format("the worker sent another result than the {} it was asked for", wanted));
}

inline Error ShuttingDown() {
  return {ErrorCode::kUnavailable, "DRAINING",
          "tinyprofd is shutting down and takes no new work: try again once it is back"};
}

}  // namespace tinyprof
