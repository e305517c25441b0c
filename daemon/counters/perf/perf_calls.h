// perf_event_open and what follows it: the kernel's, or a script in tests.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>

namespace tinyprof {

// Every answer below 0 is -errno. Any thread; a file counts the thread or CPU it was opened for.
class PerfCalls {
 public:
  virtual ~PerfCalls() = default;
  // Opens an event of a thread (`pid` 0: the calling one; -1: all) on a CPU (-1: any), in the group
  // of `group_fd` (-1: a group of its own).
  virtual int Open(const perf_event_attr& attributes, pid_t pid, int cpu, int group_fd) = 0;
  // PERF_EVENT_IOC_ENABLE, ...; with all events of the group.
  virtual int Control(int fd, unsigned long request) = 0;
  virtual ssize_t Read(int fd, void* buffer, size_t bytes) = 0;
  virtual void Close(int fd) = 0;
};

// Opens nothing while events are off (events_off.h).
PerfCalls& KernelPerfCalls();

}  // namespace tinyprof
