#include "client/lib/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tinyprof::client {
namespace {

namespace fs = std::filesystem;

// As many as Linux follows (path_resolution(7)).
constexpr int kMaxLinks = 40;

// What a new file may be read and written by.
mode_t ModeOfNewFiles() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

ErrorCode CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorCode::kResourceExhausted;
    case EIO:
      return ErrorCode::kFailedPrecondition;
    default:
      return ErrorCode::kInvalidArgument;
  }
}

Result<fs::path> FollowLinks(const std::string& path) {
  fs::path target = path;
  for (int links = 0; links <= kMaxLinks; ++links) {
    std::error_code error;
    if (!fs::is_symlink(target, error)) return target;
    const fs::path next = fs::read_symlink(target, error);
    if (error) return CannotWrite(path, error.value());
    target = target.parent_path() / next;
  }
  return CannotWrite(path, ELOOP);
}

}  // namespace

tl::unexpected<Error> CannotWrite(const std::string& path, int error_number) {
  return Fail(CodeOf(error_number), "FILE_NOT_WRITABLE",
              fmt::format("cannot write {}: {}", path, std::strerror(error_number)),
              {{"path", path}});
}

tl::unexpected<Error> ResultNotWritten(const std::string& path, int error_number) {
  tl::unexpected<Error> error = CannotWrite(path, error_number);
  if (error.value().code == ErrorCode::kInvalidArgument) {
    error.value().code = ErrorCode::kFailedPrecondition;
  }
  return error;
}

Result<std::optional<fs::path>> ReplaceableFile(const std::string& path) {
  struct stat facts = {};
  const bool exists = stat(path.c_str(), &facts) == 0;
  if (!exists && errno != ENOENT) return CannotWrite(path, errno);
  if (exists && S_ISDIR(facts.st_mode)) return CannotWrite(path, EISDIR);
  if (exists && !S_ISREG(facts.st_mode)) return std::nullopt;
  // A rename asks the directory only; a file that is write-protected stays.
  if (exists && access(path.c_str(), W_OK) != 0) return CannotWrite(path, errno);
  return FollowLinks(path);
}

Result<OutputFile> OutputFile::InPlace(const std::string& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return CannotWrite(path, errno);
  return OutputFile(path, descriptor);
}

Result<OutputFile> OutputFile::Replacing(const fs::path& target, const std::string& path) {
  std::string temporary = (target.parent_path() / ".tinyprof-XXXXXX").string();
  struct stat facts = {};
  const mode_t mode = stat(target.c_str(), &facts) == 0 ? facts.st_mode & 07777 : ModeOfNewFiles();
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return CannotWrite(path, errno);
  OutputFile file(path, descriptor);
  file.temporary_ = std::move(temporary);
  file.target_ = target;
  if (fchmod(descriptor, mode) != 0) return CannotWrite(path, errno);
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      temporary_(std::exchange(other.temporary_, "")),
      target_(std::move(other.target_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status OutputFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return CannotWrite(path_, errno);
    }
  }
  return {};
}

Status OutputFile::Commit() {
  // Some file systems tell only now that the disk is full.
  if (close(std::exchange(descriptor_, -1)) != 0) return CannotWrite(path_, errno);
  if (temporary_.empty()) return {};
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return CannotWrite(path_, errno);
  temporary_.clear();
  return {};
}

}  // namespace tinyprof::client
