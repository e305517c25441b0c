// The locks that make a daemon the only one of its host, and of its state directory.
#pragma once

#include <string>

#include "kernels/base/error.h"

namespace tinyprof {

// Holds an advisory lock on a file until it is destroyed or the process ends, however it ends.
// The file stays: removing it would let two daemons lock two files of the same name.
class FileLock {
 public:
  // Of the daemon that measures on this host. ALREADY_EXISTS / "ALREADY_RUNNING" names the process
  // that holds it; FAILED_PRECONDITION / "LOCK_FILE" when the file cannot be opened or is no plain
  // file.
  static Result<FileLock> OfHost(const std::string& path);
  // Of the daemon that keeps its state in `directory`, which must exist: containers that share it
  // may each have a host lock of their own. ALREADY_EXISTS / "STATE_IN_USE" names the process,
  // where it can be seen from here; FAILED_PRECONDITION / "STATE_DIRECTORY".
  static Result<FileLock> OfState(const std::string& directory);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  static Result<FileLock> Acquire(const std::string& path);

  int fd_;
};

}  // namespace tinyprof
