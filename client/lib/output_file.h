// A file that a command writes piece by piece.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/base/error.h"

namespace tinyprof::client {

// FILE_NOT_WRITABLE with the text of `error_number` (an errno): NOT_FOUND when there is no such
// directory, PERMISSION_DENIED, RESOURCE_EXHAUSTED when the device has no room,
// FAILED_PRECONDITION when it fails, INVALID_ARGUMENT for what is no file that can be written.
tl::unexpected<Error> CannotWrite(const std::string& path, int error_number);

// The same where the result is there and the output was found fit before: never INVALID_ARGUMENT,
// but FAILED_PRECONDITION.
tl::unexpected<Error> ResultNotWritten(const std::string& path, int error_number);

// The regular file that `path` leads to through symbolic links, or that writing would create there;
// nullopt when `path` leads to something that must not be replaced: a device, a FIFO, a socket.
Result<std::optional<std::filesystem::path>> ReplaceableFile(const std::string& path);

// One thread. Errors are those of CannotWrite.
class OutputFile {
 public:
  // Writes into what is at `path`.
  static Result<OutputFile> InPlace(const std::string& path);
  // Writes beside `target` (of ReplaceableFile), which Commit replaces in one step; what is not
  // committed is removed. `path` is what errors name.
  static Result<OutputFile> Replacing(const std::filesystem::path& target, const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Status Write(std::string_view bytes);
  // Closes the file and puts it in its place.
  Status Commit();

 private:
  OutputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
  std::string temporary_;  // empty in place
  std::filesystem::path target_;
};

}  // namespace tinyprof::client
