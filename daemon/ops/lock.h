// The lock that makes a daemon the only one of its host.
#pragma once

#include <sys/types.h>

#include <string>

#include "kernels/base/error.h"

namespace tinyprof {

// Holds an advisory lock on a file until it is destroyed or the process ends, however it ends.
// The file stays: removing it would let two daemons lock two files of the same name.
class HostLock {
 public:
  // ALREADY_EXISTS / "ALREADY_RUNNING" names the process that holds it; FAILED_PRECONDITION /
  // "LOCK_FILE" when the file cannot be opened or is no plain file.
  static Result<HostLock> Acquire(const std::string& path);

  HostLock(HostLock&& other) noexcept;
  HostLock& operator=(HostLock&&) = delete;
  ~HostLock();

 private:
  explicit HostLock(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace tinyprof
