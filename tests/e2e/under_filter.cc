// under_filter kill|trap|ERRNO PROGRAM ARGUMENT...: starts a program under a seccomp filter that
// ends who calls perf_event_open, or answers so, as those of containers do.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string_view what = argv[1];
  const auto answer = static_cast<unsigned>(std::atoi(argv[1]));
  const unsigned action = what == "kill"   ? SECCOMP_RET_KILL_PROCESS
                          : what == "trap" ? SECCOMP_RET_TRAP
                                           : SECCOMP_RET_ERRNO | answer;
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, action),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::perror("under_filter");
    return 3;
  }
  execv(argv[2], argv + 2);
  std::perror(argv[2]);
  return 3;
}
