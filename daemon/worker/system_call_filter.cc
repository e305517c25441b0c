#include "daemon/worker/system_call_filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace tinyprof {
namespace {

// By name: a call that this architecture does not have is no error.
constexpr const char* kDenied[] = {
    // programs and processes
    "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev",
    "process_madvise", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "tkill", "kcmp",
    // network
    "socket", "bind", "listen", "accept", "accept4", "connect",
    // the machine
    "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "swapon", "swapoff", "reboot", "kexec_load",
    "kexec_file_load", "init_module", "finit_module", "delete_module", "bpf", "userfaultfd",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "setns", "unshare", "sethostname",
    "setdomainname", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "acct",
    "quotactl", "iopl", "ioperm", "add_key", "request_key", "keyctl", "syslog", "personality",
    "vhangup", "open_by_handle_at", "name_to_handle_at", "fanotify_init",
    // files
    "creat", "mknod", "mknodat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename",
    "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "truncate", "chmod",
    "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "setxattr", "lsetxattr",
    "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utime", "utimes", "utimensat",
    "futimesat"};

// glibc falls back to the older call, whose flags a filter can see.
constexpr const char* kPretendedMissing[] = {"clone3", "openat2"};

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, Release>;

tl::unexpected<Error> FilterFailed(const char* step, int error) {
  return Fail(ErrorCode::kFailedPrecondition, "SANDBOX_FAILED",
              fmt::format("the worker cannot filter its system calls: {} failed with {}; allow "
                          "seccomp in the container or use a kernel with CONFIG_SECCOMP_FILTER",
                          step, std::strerror(error)),
              {{"step", step}, {"errno", std::to_string(error)}});
}

// Collects rules; the first error sticks.
class Rules {
 public:
  explicit Rules(Filter& filter) : filter_(filter) {}

  void Deny(const char* name, int error = EPERM) { Add(name, error, {}); }
  void DenyIf(const char* name, scmp_arg_cmp condition) { Add(name, EPERM, &condition); }
  int error() const { return error_; }

 private:
  void Add(const char* name, int deny_errno, const scmp_arg_cmp* condition) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR || number < 0 || error_ != 0) return;
    error_ =
        -seccomp_rule_add_array(filter_.get(), SCMP_ACT_ERRNO(static_cast<uint32_t>(deny_errno)),
                                number, condition ? 1 : 0, condition);
  }

  Filter& filter_;
  int error_ = 0;
};

scmp_arg_cmp Masked(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}

scmp_arg_cmp NotEqual(unsigned argument, scmp_datum_t value) {
  return {.arg = argument, .op = SCMP_CMP_NE, .datum_a = value, .datum_b = 0};
}

void DenyWriting(Rules& rules, const char* name, unsigned flags_argument) {
  rules.DenyIf(name, Masked(flags_argument, O_ACCMODE, O_WRONLY));
  rules.DenyIf(name, Masked(flags_argument, O_ACCMODE, O_RDWR));
  rules.DenyIf(name, Masked(flags_argument, O_CREAT, O_CREAT));
  rules.DenyIf(name, Masked(flags_argument, O_TRUNC, O_TRUNC));
}

int AddRules(Filter& filter) {
  Rules rules(filter);
  for (const char* name : kDenied) rules.Deny(name);
  for (const char* name : kPretendedMissing) rules.Deny(name, ENOSYS);
  // Threads, but no processes; the worker may signal itself, as abort() does.
  rules.DenyIf("clone", Masked(0, CLONE_THREAD, 0));
  const auto self = static_cast<scmp_datum_t>(::getpid());
  for (const char* name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"}) {
    rules.DenyIf(name, NotEqual(0, self));
  }
  DenyWriting(rules, "open", 1);
  DenyWriting(rules, "openat", 2);
  return rules.error();
}

}  // namespace

Status FilterSystemCalls() {
  Filter filter(seccomp_init(SCMP_ACT_ALLOW));
  if (!filter) return FilterFailed("seccomp_init", ENOMEM);
  if (const int error = AddRules(filter)) return FilterFailed("seccomp_rule_add", error);
  if (const int error = -seccomp_load(filter.get())) return FilterFailed("seccomp_load", error);
  return {};
}

}  // namespace tinyprof
