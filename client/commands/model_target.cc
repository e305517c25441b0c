#include "client/commands/model_target.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "client/lib/model_file.h"

namespace tinyprof::client {
namespace {

namespace fs = std::filesystem;

// Whether both name one file, there or not yet.
bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path path_a = fs::weakly_canonical(a, error);
  return !error && path_a == fs::weakly_canonical(b, error) && !error;
}

}  // namespace

Status CheckModelTarget(const Session& session, const std::string& source, const std::string& file,
                        bool prints_report) {
  if (file == "-") {
    if (!prints_report || !session.ToStdout()) return {};
    return Fail(ErrorCode::kInvalidArgument, "OUTPUT_TAKEN",
                "the model and its report cannot both go to standard output; write one of them to "
                "a file");
  }
  if (prints_report && !session.ToStdout() && IsSameFile(file, session.options().output)) {
    return Fail(ErrorCode::kInvalidArgument, "OUTPUT_TAKEN",
                fmt::format("the model and its report cannot both go to {}", file));
  }
  if (IsModelFile(source) && IsSameFile(file, source)) {
    return Fail(
        ErrorCode::kInvalidArgument, "SOURCE_TAKEN",
        fmt::format("{} is the model that this is made of: write it to another file", file));
  }
  return {};
}

}  // namespace tinyprof::client
