// The C library's functions that the stand-in PMU takes the place of. Whatever is not about its
// events or its two files goes on to the next library.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/pmu/stand_in_events.h"
#include "tests/pmu/stand_in_machine.h"

#define TINYPROF_EXPORT extern "C" __attribute__((visibility("default")))

namespace tinyprof::stand_in {
namespace {

// The next library's function with the type of the one that takes its place.
template <class Function>
Function* Next(const char* name, std::atomic<Function*>& known) {
  Function* function = known.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = reinterpret_cast<Function*>(NextFunction(name));
    known.store(function, std::memory_order_relaxed);
  }
  return function;
}

// perf_event_attr as programs of different age pass it.
int CopyAttr(const perf_event_attr* from, perf_event_attr& attr) {
  const size_t bytes = from->size == 0 ? PERF_ATTR_SIZE_VER0 : from->size;
  if (bytes < PERF_ATTR_SIZE_VER0) {
    return -E2BIG;
  }
  memcpy(&attr, from, bytes < sizeof(attr) ? bytes : sizeof(attr));
  return 0;
}

bool IsOurs(uint32_t type) {
  return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

long Returned(long result) {
  if (result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}

long PerfEventOpen(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd) {
  MachineLock machine;
  if (const Fault fault = NextFault(*machine, Call::kOpen); fault.outcome == Outcome::kErrno) {
    return -fault.error_number;
  }
  if (pid < 0) {
    return cpu < 0 ? -EINVAL : -EACCES;  // counting a whole CPU needs rights
  }
  Event* const leader = FindEvent(group_fd);
  if (group_fd >= 0 && leader == nullptr) {
    return -EBADF;
  }
  return OpenEvent(*machine, attr, pid == 0 ? gettid() : pid, leader);
}

int Control(Event& event, unsigned long request, unsigned long argument) {
  MachineLock machine;
  const bool whole_group = (argument & PERF_IOC_FLAG_GROUP) != 0;
  const auto refused = [&](Call call) { return NextFault(*machine, call).error_number; };
  int error_number = 0;
  switch (request) {
    case PERF_EVENT_IOC_ENABLE:
      error_number = refused(Call::kEnable);
      return error_number != 0 ? -error_number : SwitchEvent(*machine, event, true, whole_group);
    case PERF_EVENT_IOC_DISABLE:
      error_number = refused(Call::kDisable);
      return error_number != 0 ? -error_number : SwitchEvent(*machine, event, false, whole_group);
    case PERF_EVENT_IOC_RESET:
      error_number = refused(Call::kReset);
      return error_number != 0 ? -error_number : ResetEvent(*machine, event, whole_group);
    case PERF_EVENT_IOC_ID:
      *reinterpret_cast<uint64_t*>(argument) = event.id;
      return 0;
    default:
      return -ENOTTY;
  }
}

ssize_t Read(Event& event, void* buffer, size_t bytes) {
  MachineLock machine;
  const Fault fault = NextFault(*machine, Call::kRead);
  if (fault.outcome == Outcome::kErrno) return -fault.error_number;
  if (fault.outcome == Outcome::kEmpty) return 0;
  const ssize_t got = ReadEvent(*machine, event, static_cast<uint64_t*>(buffer), bytes);
  return fault.outcome == Outcome::kShort && got > 0 ? got - static_cast<ssize_t>(sizeof(uint64_t))
                                                     : got;
}

// The rule's value of a file that the rules stand in for, or null.
const int* FileValue(const char* path) {
  if (path == nullptr || strncmp(path, "/proc/sys/kernel/", 17) != 0) {
    return nullptr;
  }
  if (strcmp(path + 17, "perf_event_paranoid") == 0) return &TheMachine().rules.paranoid;
  if (strcmp(path + 17, "nmi_watchdog") == 0) return &TheMachine().rules.nmi_watchdog;
  return nullptr;
}

int OpenFile(int value) {
  if (value == kAbsent) {
    errno = ENOENT;
    return -1;
  }
  char text[16];
  const int length = snprintf(text, sizeof(text), "%d\n", value);
  const int fd = memfd_create("stand_in_file", MFD_CLOEXEC);
  if (fd >= 0 &&
      (write(fd, text, static_cast<size_t>(length)) != length || lseek(fd, 0, SEEK_SET) != 0)) {
    return -1;
  }
  return fd;
}

using FopenFunction = FILE*(const char*, const char*);
FILE* Fopen(const char* path, const char* mode, const char* name,
            std::atomic<FopenFunction*>& known) {
  const int* const value = FileValue(path);
  if (value == nullptr) {
    return Next(name, known)(path, mode);
  }
  const int fd = OpenFile(*value);
  return fd < 0 ? nullptr : fdopen(fd, "r");
}

using OpenFunction = int(const char*, int, ...);
int Open(const char* path, int flags, mode_t mode, const char* name,
         std::atomic<OpenFunction*>& known) {
  const int* const value = FileValue(path);
  return value == nullptr ? Next(name, known)(path, flags, mode) : OpenFile(*value);
}

std::atomic<long (*)(long, ...)> next_syscall;
std::atomic<int (*)(int, unsigned long, ...)> next_ioctl;
std::atomic<ssize_t (*)(int, void*, size_t)> next_read;
std::atomic<int (*)(int)> next_close;
std::atomic<int (*)(const char*, int)> next_access;
std::atomic<FopenFunction*> next_fopen;
std::atomic<FopenFunction*> next_fopen64;
std::atomic<OpenFunction*> next_open;
std::atomic<OpenFunction*> next_open64;

}  // namespace
}  // namespace tinyprof::stand_in

using namespace tinyprof::stand_in;

// Takes the counters from every event of the process: PAPI leaves some behind after a fault.
TINYPROF_EXPORT void TinyprofStandInStopAll() {
  MachineLock machine;
  StopAllEvents(*machine);
}

TINYPROF_EXPORT long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) {
    argument = va_arg(list, long);
  }
  va_end(list);
  perf_event_attr attr{};
  const auto* const given = reinterpret_cast<const perf_event_attr*>(arguments[0]);
  if (number != SYS_perf_event_open || given == nullptr || !IsOurs(given->type)) {
    return Next("syscall", next_syscall)(number, arguments[0], arguments[1], arguments[2],
                                         arguments[3], arguments[4], arguments[5]);
  }
  const int copied = CopyAttr(given, attr);
  return Returned(copied != 0 ? copied
                              : PerfEventOpen(attr, static_cast<pid_t>(arguments[1]),
                                              static_cast<int>(arguments[2]),
                                              static_cast<int>(arguments[3])));
}

TINYPROF_EXPORT int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  const unsigned long argument = va_arg(list, unsigned long);
  va_end(list);
  Event* const event = FindEvent(fd);
  return event == nullptr ? Next("ioctl", next_ioctl)(fd, request, argument)
                          : static_cast<int>(Returned(Control(*event, request, argument)));
}

TINYPROF_EXPORT ssize_t read(int fd, void* buffer, size_t bytes) {
  Event* const event = FindEvent(fd);
  return event == nullptr ? Next("read", next_read)(fd, buffer, bytes)
                          : Returned(Read(*event, buffer, bytes));
}

TINYPROF_EXPORT int close(int fd) {
  if (Event* const event = FindEvent(fd); event != nullptr) {
    MachineLock machine;
    CloseEvent(*machine, *event);
  }
  return Next("close", next_close)(fd);
}

TINYPROF_EXPORT FILE* fopen(const char* path, const char* mode) {
  return Fopen(path, mode, "fopen", next_fopen);
}

TINYPROF_EXPORT FILE* fopen64(const char* path, const char* mode) {
  return Fopen(path, mode, "fopen64", next_fopen64);
}

TINYPROF_EXPORT int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  return Open(path, flags, mode, "open", next_open);
}

TINYPROF_EXPORT int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  return Open(path, flags, mode, "open64", next_open64);
}

TINYPROF_EXPORT int access(const char* path, int mode) {
  const int* const value = FileValue(path);
  if (value == nullptr) {
    return Next("access", next_access)(path, mode);
  }
  if (*value == kAbsent) {
    errno = ENOENT;
    return -1;
  }
  return 0;
}
