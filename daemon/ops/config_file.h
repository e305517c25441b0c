// The configuration file: TOML, flat keys of the table in config.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/ops/config.h"

namespace tinyprof {

struct ConfigFile {
  struct Entry {
    ConfigTexts texts;
    std::string position;  // "path:line:column"
  };
  std::map<std::string, Entry, std::less<>> entries;
  std::vector<std::string> errors;  // each begins with a position
};

// Reads and checks all of the file; what is wrong is in `errors`.
ConfigFile ReadConfigFile(const std::string& path);

}  // namespace tinyprof
