// Events of the stand-in PMU: how groups are opened, scheduled, switched and read, as the kernel
// does it. An event is the second page of the memfd that stands for it, so that it survives fork;
// the first page is what a program maps to read counters without the kernel, and being zero says
// that it cannot.
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/pmu/stand_in_machine.h"

namespace tinyprof::stand_in {

struct Event {
  int fd;
  pid_t owner;  // the process that opened it
  pid_t tid;    // the thread that is counted
  uint64_t id;
  uint32_t type;
  uint64_t config;
  uint64_t read_format;
  bool exclude_user;
  bool pinned;
  bool on;       // enabled by the program
  bool running;  // really counting
  bool error;    // of a pinned leader: it lost its counters
  Event* leader;
  Event* next;  // in its group, in the order of opening
  uint64_t count;
  int64_t declared;  // of the signal, when `count` was last brought up to date
  int64_t reads;
  uint64_t enabled_ns;
  uint64_t running_ns;
  uint64_t since_ns;  // both times are up to here
};

// Functions return 0 or more, or minus an errno. The lock is held.
int OpenEvent(Machine& machine, const perf_event_attr& attr, pid_t tid, Event* leader);
int SwitchEvent(Machine& machine, Event& event, bool on, bool whole_group);
int ResetEvent(Machine& machine, Event& event, bool whole_group);
// Reads as read(2) does; 0 bytes when the group has lost its counters.
ssize_t ReadEvent(Machine& machine, Event& event, uint64_t* buffer, size_t bytes);
// Forgets the event, and in the process that opened it takes it out of its group.
void CloseEvent(Machine& machine, Event& event);

// Disables every event of the process.
void StopAllEvents(Machine& machine);

// The event behind a file descriptor, or null. Needs no lock.
Event* FindEvent(int fd);

}  // namespace tinyprof::stand_in
