#include "daemon/ops/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace tinyprof {
namespace {

// First without O_CREAT: Linux refuses O_CREAT on another user's file in a sticky directory, and a
// lock needs no more than an open file.
int OpenLockFile(const std::string& path) {
  constexpr mode_t kMode = 0644;
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const int existing = open(path.c_str(), kFlags);
  if (existing >= 0 || errno != ENOENT) return existing;
  const int created = open(path.c_str(), kFlags | O_CREAT | O_EXCL, kMode);
  // Whatever the umask: a file that others cannot open would keep their daemons from starting.
  if (created >= 0 && fchmod(created, kMode) != 0) {
    close(created);
    return -1;
  }
  // Another daemon may have made it in between.
  return created >= 0 || errno != EEXIST ? created : open(path.c_str(), kFlags);
}

// The process that holds a flock of the file, from /proc/locks, whose lines read
// "1: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF"; 0 when it is not told.
pid_t HolderOf(const struct stat& file) {
  std::ifstream locks("/proc/locks");
  const std::string wanted_inode = fmt::format(":{}", file.st_ino);
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, type, mode, access;
    pid_t pid = 0;
    std::string place;
    words >> number >> type >> mode >> access >> pid >> place;
    if (words && type == "FLOCK" && place.ends_with(wanted_inode)) return pid;
  }
  return 0;
}

// "process 123", or what is known where it is in another PID namespace.
std::string Named(std::string_view pid) {
  return pid == "0" ? "another process" : fmt::format("process {}", pid);
}

}  // namespace

// ALREADY_EXISTS / "LOCKED" with the holder's "pid", or FAILED_PRECONDITION / "NO_LOCK" whose
// message is why.
Result<FileLock> FileLock::Acquire(const std::string& path) {
  const auto failed = [](std::string_view why) {
    return Fail(ErrorCode::kFailedPrecondition, "NO_LOCK", std::string(why));
  };
  const int fd = OpenLockFile(path);
  if (fd < 0) return failed(std::strerror(errno));
  FileLock lock(fd);
  struct stat file {};
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return failed("not a plain file");
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return failed(std::strerror(errno));
  return Fail(ErrorCode::kAlreadyExists, "LOCKED", "it is locked",
              {{"pid", std::to_string(HolderOf(file))}});
}

Result<FileLock> FileLock::OfHost(const std::string& path) {
  Result<FileLock> lock = Acquire(path);
  if (lock.has_value()) return lock;
  if (lock.error().code == ErrorCode::kAlreadyExists) {
    const std::string& pid = lock.error().metadata["pid"];
    return Fail(ErrorCode::kAlreadyExists, "ALREADY_RUNNING",
                fmt::format("tinyprofd already runs on this host: {} holds {}; two daemons would "
                            "disturb each other's measurements",
                            Named(pid), path),
                {{"pid", pid}, {"lock_file", path}});
  }
  return Fail(ErrorCode::kFailedPrecondition, "LOCK_FILE",
              fmt::format("cannot lock {}: {}; set lock_file to a file that can be opened", path,
                          lock.error().message),
              {{"lock_file", path}});
}

Result<FileLock> FileLock::OfState(const std::string& directory) {
  const std::string path = directory + "/tinyprof.db.lock";
  Result<FileLock> lock = Acquire(path);
  if (lock.has_value()) return lock;
  if (lock.error().code == ErrorCode::kAlreadyExists) {
    const std::string& pid = lock.error().metadata["pid"];
    return Fail(ErrorCode::kAlreadyExists, "STATE_IN_USE",
                fmt::format("the state directory {} is in use by another tinyprofd ({} holds {}): "
                            "stop that one, or pass --state-dir",
                            directory, Named(pid), path),
                {{"pid", pid}, {"state_dir", directory}});
  }
  return Fail(
      ErrorCode::kFailedPrecondition, "STATE_DIRECTORY",
      fmt::format("cannot lock the state directory {} by its file tinyprof.db.lock: {}; pass "
                  "--state-dir",
                  directory, lock.error().message),
      {{"state_dir", directory}});
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace tinyprof
