// The command line of tinyprofd.
#pragma once

#include <optional>
#include <string>

#include "daemon/ops/config.h"
#include "kernels/base/error.h"

namespace tinyprof {

struct Flags {
  ConfigFlags config;
  bool check_config = false;
  bool print_config = false;
  bool version = false;
  std::optional<std::string> help;  // the text to print, when it was asked for
};

// INVALID_ARGUMENT / "USAGE" with one sentence that names the argument.
Result<Flags> ParseFlags(int argc, const char* const* argv);

}  // namespace tinyprof
