#include "daemon/counters/fact_files.h"

#include <sys/stat.h>

#include <fstream>

namespace tinyprof {
namespace {

constexpr size_t kMaxNamedFileBytes = size_t{1} << 20;

std::string KindOf(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "";
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

}  // namespace

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

NamedFile ReadNamedFile(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return {};
  }
  NamedFile named{.kind = KindOf(status.st_mode)};
  std::ifstream file;
  if (named.kind.empty()) {
    file.open(path, std::ios::binary);
  }
  if (!file.is_open()) {
    return named;
  }
  std::string text(kMaxNamedFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.bad()) {
    text.resize(static_cast<size_t>(file.gcount()));
    named.text = std::move(text);
  }
  return named;
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
