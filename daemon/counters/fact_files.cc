#include "daemon/counters/fact_files.h"

#include <fstream>

namespace tinyprof {
std::optional<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return std::nullopt;
  }
  // Unlike a stream's iterators, getline does not throw where the path is a folder.
  std::string text;
  std::getline(file, text, '\0');
  if (file.bad()) {
    return std::nullopt;
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

std::optional<std::string> LineAfter(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      return line.substr(key.size());
    }
  }
  return std::nullopt;
}

}  // namespace tinyprof
