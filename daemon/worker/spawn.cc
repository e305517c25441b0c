#include "daemon/worker/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "daemon/worker/protocol.h"

namespace tinyprof {
namespace {

// Descriptors handed to dup2 lie above those they are moved to, so that no move overwrites a
// source.
constexpr int kFirstSafeFd = 16;

tl::unexpected<Error> SpawnFailed(std::string_view call, int error) {
  return Fail(
      ErrorCode::kResourceExhausted, "SPAWN_FAILED",
      fmt::format("a worker cannot be started: {} failed with {}", call, std::strerror(error)),
      {{"call", std::string(call)}, {"errno", std::to_string(error)}});
}

Result<UniqueFd> MoveUp(int fd) {
  UniqueFd moved(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstSafeFd));
  if (!moved.valid()) return SpawnFailed("fcntl", errno);
  return moved;
}

// What posix_spawn could not find may be the program or what it opens for it.
tl::unexpected<Error> NoWorker(const std::string& path, int error) {
  std::string what;
  std::string fix;
  if (::access(path.c_str(), F_OK) != 0) {
    what = "install tinyprof-worker beside tinyprofd";
  } else if (::access(path.c_str(), X_OK) != 0) {
    what = "the file is no program that this user may run";
    fix = "chmod 755 " + path;
  } else if (::access("/dev/null", R_OK | W_OK) != 0) {
    what = "/dev/null is missing or cannot be used";
    fix = "sudo mknod -m 666 /dev/null c 1 3";
  } else {
    what = "the program is there, but it is for another machine or lacks its interpreter";
  }
  Error refused{ErrorCode::kFailedPrecondition,
                "NO_WORKER",
                fmt::format("{} cannot be started ({}): {}", path, std::strerror(error), what),
                {{"path", path}}};
  if (!fix.empty()) refused.metadata["fix"] = fix;
  return tl::unexpected(std::move(refused));
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

  // Each returns 0 or an errno.
  int Describe(int socket_fd, int stderr_fd, int model_fd, int output_fd) {
    int error = posix_spawn_file_actions_addopen(get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error) {
      error = posix_spawn_file_actions_addopen(get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (!error) error = posix_spawn_file_actions_adddup2(get(), stderr_fd, STDERR_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(get(), socket_fd, kSocketFd);
    int first_closed = kModelFd;
    if (!error && model_fd >= 0) {
      error = posix_spawn_file_actions_adddup2(get(), model_fd, kModelFd);
      first_closed = kModelFd + 1;
    }
    if (!error && output_fd >= 0) {
      error = posix_spawn_file_actions_adddup2(get(), output_fd, kOutputFd);
      if (!error && model_fd < 0) error = posix_spawn_file_actions_addclose(get(), kModelFd);
      first_closed = kOutputFd + 1;
    }
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(get(), first_closed);
    return error;
  }

 private:
  posix_spawn_file_actions_t actions_;
};

class SpawnAttributes {
 public:
  SpawnAttributes() { posix_spawnattr_init(&attributes_); }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  posix_spawnattr_t* get() { return &attributes_; }

  // A process group of its own, so that Ctrl-C reaches the daemon alone; the daemon's blocked and
  // ignored signals are not inherited.
  int Describe() {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setflags(
        get(), POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    if (!error) error = posix_spawnattr_setsigmask(get(), &none);
    if (!error) error = posix_spawnattr_setsigdefault(get(), &all);
    if (!error) error = posix_spawnattr_setpgroup(get(), 0);
    return error;
  }

 private:
  posix_spawnattr_t attributes_;
};

Result<pid_t> Spawn(const std::string& path, int socket_fd, int stderr_fd, int model_fd,
                    int output_fd) {
  FileActions actions;
  SpawnAttributes attributes;
  if (const int error = actions.Describe(socket_fd, stderr_fd, model_fd, output_fd)) {
    return SpawnFailed("posix_spawn_file_actions", error);
  }
  if (const int error = attributes.Describe()) return SpawnFailed("posix_spawnattr", error);
  std::string name = "tinyprof-worker";
  char* arguments[] = {name.data(), nullptr};
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, path.c_str(), actions.get(), attributes.get(), arguments, environ);
  if (error == ENOENT || error == EACCES || error == ENOEXEC) return NoWorker(path, error);
  if (error) return SpawnFailed("posix_spawn", error);
  return pid;
}

}  // namespace

Result<SpawnedWorker> SpawnWorker(const std::string& path, int model_fd, int output_fd) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return SpawnFailed("socketpair", errno);
  }
  SpawnedWorker worker;
  worker.socket = UniqueFd(sockets[0]);
  const UniqueFd their_socket(sockets[1]);
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return SpawnFailed("pipe2", errno);
  worker.stderr_pipe = UniqueFd(pipe_ends[0]);
  const UniqueFd their_stderr(pipe_ends[1]);
  // Only our end: a worker that writes much to stderr may wait for us.
  if (::fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK) != 0) return SpawnFailed("fcntl", errno);

  TINYPROF_ASSIGN_OR_RETURN(const UniqueFd socket_source, MoveUp(their_socket.get()));
  TINYPROF_ASSIGN_OR_RETURN(const UniqueFd stderr_source, MoveUp(their_stderr.get()));
  UniqueFd model_source;
  if (model_fd >= 0) {
    TINYPROF_ASSIGN_OR_RETURN(model_source, MoveUp(model_fd));
  }
  UniqueFd output_source;
  if (output_fd >= 0) {
    TINYPROF_ASSIGN_OR_RETURN(output_source, MoveUp(output_fd));
  }
  TINYPROF_ASSIGN_OR_RETURN(worker.pid, Spawn(path, socket_source.get(), stderr_source.get(),
                                              model_source.get(), output_source.get()));
  return worker;
}

Result<std::string> DefaultWorkerPath() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return Fail(ErrorCode::kFailedPrecondition, "NO_WORKER",
                fmt::format("/proc/self/exe cannot be read ({}): mount /proc", error.message()),
                {{"fix", "sudo mount -t proc proc /proc"}});
  }
  return (self.parent_path() / "tinyprof-worker").string();
}

}  // namespace tinyprof
