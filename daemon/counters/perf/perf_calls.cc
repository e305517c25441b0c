#include "daemon/counters/perf/perf_calls.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/counters/events_off.h"

namespace tinyprof {
namespace {

class Kernel final : public PerfCalls {
 public:
  int Open(const perf_event_attr& attributes, pid_t pid, int cpu, int group_fd) override {
    if (EventsOff().has_value()) {
      return -EPERM;
    }
    const long fd = syscall(SYS_perf_event_open, &attributes, pid, cpu, group_fd,
                            static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
    return fd < 0 ? -errno : static_cast<int>(fd);
  }

  int Control(int fd, unsigned long request) override {
    return ioctl(fd, request, PERF_IOC_FLAG_GROUP) != 0 ? -errno : 0;
  }

  ssize_t Read(int fd, void* buffer, size_t bytes) override {
    const ssize_t got = read(fd, buffer, bytes);
    return got < 0 ? -errno : got;
  }

  void Close(int fd) override { close(fd); }
};

}  // namespace

PerfCalls& KernelPerfCalls() {
  static Kernel kernel;
  return kernel;
}

}  // namespace tinyprof
