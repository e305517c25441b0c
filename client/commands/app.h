// The whole program behind main: arguments in, exit code out.
#pragma once

#include <string>
#include <vector>

#include "client/lib/exit_code.h"
#include "client/lib/io.h"

namespace tinyprof::client {

// `args` without the program's name.
ExitCode RunClient(const std::vector<std::string>& args, Io& io);

}  // namespace tinyprof::client
