#include "tests/conformance/allow_list.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <fstream>

namespace tinyprof {

Result<AllowList> AllowList::Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) {
    return Fail(ErrorCode::kNotFound, "NO_FILE", fmt::format("cannot read {}", path.string()));
  }
  AllowList list;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const size_t end = line.find(' ');
    const size_t why = line.find_first_not_of(' ', end);
    if (why == std::string::npos) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_ALLOW_LIST",
                  fmt::format("line {} gives no reason: {}", number, line));
    }
    list.lines_.push_back({line.substr(0, end), line.substr(why)});
  }
  return list;
}

const AllowedRefusal* AllowList::Find(const std::string& model) {
  for (AllowedRefusal& line : lines_) {
    if (::fnmatch(line.pattern.c_str(), model.c_str(), 0) != 0) continue;
    ++line.match_count;
    return &line;
  }
  return nullptr;
}

}  // namespace tinyprof
