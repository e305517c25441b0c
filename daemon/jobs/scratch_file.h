// A file without a name, for what a task writes until it is sent: it is gone when it is closed.
#pragma once

#include <string>

#include "daemon/worker/unique_fd.h"
#include "kernels/base/error.h"

namespace tinyprof {

// Opens one in `directory` for reading and writing. FAILED_PRECONDITION / "NO_SCRATCH_FILE" when
// the directory takes none.
Result<UniqueFd> OpenScratchFile(const std::string& directory);

}  // namespace tinyprof
