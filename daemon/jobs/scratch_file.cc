#include "daemon/jobs/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tinyprof {

Result<UniqueFd> OpenScratchFile(const std::string& directory) {
  // Not O_TMPFILE, which not every file system has.
  std::string path = directory + "/scratch-XXXXXX";
  UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) {
    return Fail(ErrorCode::kFailedPrecondition, "NO_SCRATCH_FILE",
                fmt::format("no file can be made in {}: {}", directory, std::strerror(errno)),
                {{"directory", directory}, {"errno", std::to_string(errno)}});
  }
  ::unlink(path.c_str());
  return file;
}

}  // namespace tinyprof
