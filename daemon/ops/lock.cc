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

tl::unexpected<Error> AlreadyRunning(const std::string& path, const struct stat& file) {
  const pid_t holder = HolderOf(file);
  const std::string who = holder > 0 ? fmt::format("process {}", holder) : "another process";
  return Fail(ErrorCode::kAlreadyExists, "ALREADY_RUNNING",
              fmt::format("tinyprofd already runs on this host: {} holds {}; two daemons would "
                          "disturb each other's measurements",
                          who, path),
              {{"pid", std::to_string(holder)}, {"lock_file", path}});
}

tl::unexpected<Error> BadLockFile(const std::string& path, std::string_view why) {
  return Fail(
      ErrorCode::kFailedPrecondition, "LOCK_FILE",
      fmt::format("cannot lock {}: {}; set lock_file to a file that can be opened", path, why),
      {{"lock_file", path}});
}

}  // namespace

Result<HostLock> HostLock::Acquire(const std::string& path) {
  const int fd = OpenLockFile(path);
  if (fd < 0) return BadLockFile(path, std::strerror(errno));
  HostLock lock(fd);
  struct stat file {};
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return BadLockFile(path, "not a plain file");
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return AlreadyRunning(path, file);
  return BadLockFile(path, std::strerror(errno));
}

HostLock::HostLock(HostLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

HostLock::~HostLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace tinyprof
