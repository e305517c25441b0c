// SHA-256 of a file.
#pragma once

#include <string>

#include "kernels/base/error.h"

namespace tinyprof {

// 64 lower-case hexadecimal digits of the whole file behind `fd`, whatever its offset.
// DATA_LOSS / "CANNOT_READ" when it cannot be read.
Result<std::string> Sha256OfFd(int fd);

}  // namespace tinyprof
