// Limits of the shell or service that started a program, under which it cannot work. To be checked
// first: libraries abort where they cannot get a descriptor or a thread's stack.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/base/error.h"
#include "kernels/base/words.h"

namespace tinyprof {

struct ResourceNeeds {
  int64_t open_files = 0;
  int64_t address_space_bytes = 0;
};

// FAILED_PRECONDITION / "LIMIT_TOO_LOW", with the command that raises the limit.
inline Status CheckResourceLimits(std::string_view program, const ResourceNeeds& needs) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 &&
      files.rlim_cur < static_cast<rlim_t>(needs.open_files)) {
    return Fail(
        ErrorCode::kFailedPrecondition, "LIMIT_TOO_LOW",
        fmt::format("the limit of open files is {}, and {} needs {} at least: raise it with "
                    "`ulimit -n 1024`, or LimitNOFILE=1024 in a service's unit",
                    files.rlim_cur, program, needs.open_files));
  }
  rlimit memory{};
  if (::getrlimit(RLIMIT_AS, &memory) == 0 &&
      memory.rlim_cur < static_cast<rlim_t>(needs.address_space_bytes)) {
    return Fail(
        ErrorCode::kFailedPrecondition, "LIMIT_TOO_LOW",
        fmt::format("the limit of address space is {}, and {} needs {} at least, most of it "
                    "reserved and never used: raise it with `ulimit -v unlimited`, or "
                    "LimitAS=infinity in a service's unit",
                    SizeText(static_cast<int64_t>(memory.rlim_cur)), program,
                    SizeText(needs.address_space_bytes)));
  }
  return {};
}

}  // namespace tinyprof
