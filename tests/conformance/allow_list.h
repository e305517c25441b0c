// The list of models that are refused on purpose.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

// One line of the file: a pattern of "suite/model" (with * and ?), then why it is refused. Empty
// lines and those that begin with # are none.
struct AllowedRefusal {
  std::string pattern;
  std::string why;
  int match_count = 0;  // models that it has matched
};

class AllowList {
 public:
  // INVALID_ARGUMENT / "BAD_ALLOW_LIST" for a line without a reason, NOT_FOUND / "NO_FILE".
  static Result<AllowList> Read(const std::filesystem::path& path);

  // The first line that matches, or null; counts the match.
  const AllowedRefusal* Find(const std::string& model);
  const std::vector<AllowedRefusal>& lines() const { return lines_; }

 private:
  std::vector<AllowedRefusal> lines_;
};

}  // namespace tinyprof
