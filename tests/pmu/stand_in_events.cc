#include "tests/pmu/stand_in_events.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace tinyprof::stand_in {
namespace {

constexpr int kMaxFds = 65536;
constexpr int kMaxGroup = 64;

std::atomic<Event*> events_by_fd[kMaxFds];
std::atomic<int> fd_end = 0;  // no event has this fd or a higher one

uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Opened events keep counting by the rules of the moment; without one they stand still.
EventRule RuleOf(const Machine& machine, const Event& event) {
  const EventRule* const rule = FindRule(machine.rules, event.type, event.config);
  return rule == nullptr ? EventRule{} : *rule;
}

// Brings counts and times up to now.
void Advance(const Machine& machine, Event& event) {
  const EventRule rule = RuleOf(machine, event);
  const uint64_t now_ns = NowNs();
  const int64_t declared = DeclaredBy(machine, event.tid, rule.signals);
  if (event.running && !event.exclude_user) {
    event.count += static_cast<uint64_t>(rule.times * (declared - event.declared));
  }
  event.enabled_ns += event.on && event.leader->on ? now_ns - event.since_ns : 0;
  event.running_ns += event.running ? now_ns - event.since_ns : 0;
  event.declared = declared;
  event.since_ns = now_ns;
}

void SetRunning(const Machine& machine, Event& event, bool running) {
  if (event.running == running) {
    return;
  }
  event.running = running;
  if (running) {
    event.count += static_cast<uint64_t>(RuleOf(machine, event).constant);
  }
}

// What the group needs; of all its members, or of those that are on.
int CostOf(const Machine& machine, const Event& leader, bool only_on) {
  int cost = 0;
  for (const Event* event = &leader; event != nullptr; event = event->next) {
    cost += event->on || !only_on ? RuleOf(machine, *event).cost : 0;
  }
  return cost;
}

// Gives a group its counters, or not; returns how many are left.
int ScheduleGroup(const Machine& machine, Event& leader, int left) {
  const int cost = CostOf(machine, leader, true);
  const bool fits = leader.on && !leader.error && cost <= left;
  if (leader.on && leader.pinned && !fits) {
    leader.error = true;
  }
  for (Event* event = &leader; event != nullptr; event = event->next) {
    SetRunning(machine, *event, fits && event->on);
  }
  return fits ? left - cost : left;
}

// Gives the counters of the CPU to the groups of a thread: pinned ones first, the others in order,
// without turns. The thread is taken to be alone on its CPU.
void Schedule(const Machine& machine, pid_t tid) {
  int left = machine.rules.counters - machine.rules.held;
  const int end = fd_end.load(std::memory_order_relaxed);
  for (int fd = 0; fd < end; ++fd) {
    if (Event* const event = FindEvent(fd); event != nullptr && event->tid == tid) {
      Advance(machine, *event);
    }
  }
  for (const bool pinned : {true, false}) {
    for (int fd = 0; fd < end; ++fd) {
      Event* const event = FindEvent(fd);
      if (event != nullptr && event->tid == tid && event->leader == event &&
          event->pinned == pinned) {
        left = ScheduleGroup(machine, *event, left);
      }
    }
  }
}

Event* MakeEvent() {
  const long page_bytes = sysconf(_SC_PAGESIZE);
  const int fd = memfd_create("stand_in_pmu", MFD_CLOEXEC);
  if (fd < 0) {
    return nullptr;
  }
  void* memory = MAP_FAILED;
  if (fd < kMaxFds && ftruncate(fd, 2 * page_bytes) == 0) {
    memory = mmap(nullptr, static_cast<size_t>(page_bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                  page_bytes);
  }
  if (memory == MAP_FAILED) {
    close(fd);
    errno = ENOMEM;
    return nullptr;
  }
  auto* const event = new (memory) Event{};
  event->fd = fd;
  return event;
}

void Enlist(Event& event) {
  events_by_fd[event.fd].store(&event, std::memory_order_release);
  int end = fd_end.load(std::memory_order_relaxed);
  while (end <= event.fd &&
         !fd_end.compare_exchange_weak(end, event.fd + 1, std::memory_order_relaxed)) {
  }
}

uint64_t ReadCount(const Machine& machine, Event& event) {
  const EventRule rule = RuleOf(machine, event);
  ++event.reads;
  if (event.reads == rule.restart_at_read) {
    event.count = 0;
  }
  if (event.reads == rule.lose_at_read) {
    event.leader->error = true;
  }
  event.count += event.running ? static_cast<uint64_t>(rule.step) : 0;
  return rule.wrap_bits == 64 ? event.count : event.count & ((uint64_t{1} << rule.wrap_bits) - 1);
}

}  // namespace

Event* FindEvent(int fd) {
  return fd < 0 || fd >= kMaxFds ? nullptr : events_by_fd[fd].load(std::memory_order_acquire);
}

int OpenEvent(Machine& machine, const perf_event_attr& attr, pid_t tid, Event* leader) {
  const EventRule* const rule = FindRule(machine.rules, attr.type, attr.config);
  if (rule == nullptr || rule->refuse_errno != 0) {
    return -(rule == nullptr ? ENOENT : rule->refuse_errno);
  }
  if (attr.sample_period != 0) {
    return -EOPNOTSUPP;
  }
  int group_cost = rule->cost;
  Event* last = leader;
  if (leader != nullptr) {
    if (leader->leader != leader || leader->tid != tid || attr.pinned) {
      return -EINVAL;
    }
    group_cost += CostOf(machine, *leader, false);
    int size = 1;
    for (; last->next != nullptr; last = last->next) ++size;
    if (size == kMaxGroup) return -EINVAL;
  }
  if (group_cost > machine.rules.counters || attr.inherit) {
    return -EINVAL;
  }
  Event* const event = MakeEvent();
  if (event == nullptr) {
    return -errno;
  }
  event->owner = getpid();
  event->tid = tid;
  event->id = ++machine.last_id;
  event->type = attr.type;
  event->config = attr.config;
  event->read_format = attr.read_format;
  event->exclude_user = attr.exclude_user;
  event->pinned = attr.pinned;
  event->leader = leader == nullptr ? event : leader;
  event->count = rule->start;
  event->since_ns = NowNs();
  Enlist(*event);
  if (last != nullptr) {
    last->next = event;
  }
  Schedule(machine, tid);
  event->on = !attr.disabled;
  Schedule(machine, tid);
  return event->fd;
}

int SwitchEvent(Machine& machine, Event& event, bool on, bool whole_group) {
  Schedule(machine, event.tid);
  Event* const first = whole_group ? event.leader : &event;
  for (Event* member = first; member != nullptr; member = whole_group ? member->next : nullptr) {
    member->on = on;
    // Only enabling takes a group out of its error, to try once more.
    member->error = member->error && !on;
  }
  Schedule(machine, event.tid);
  return 0;
}

int ResetEvent(Machine& machine, Event& event, bool whole_group) {
  Schedule(machine, event.tid);
  Event* const first = whole_group ? event.leader : &event;
  for (Event* member = first; member != nullptr; member = whole_group ? member->next : nullptr) {
    member->count = RuleOf(machine, *member).start;
  }
  return 0;
}

ssize_t ReadEvent(Machine& machine, Event& event, uint64_t* buffer, size_t bytes) {
  Schedule(machine, event.tid);
  const bool group = (event.read_format & PERF_FORMAT_GROUP) != 0 && event.leader == &event;
  uint64_t words[4 + 2 * kMaxGroup];
  size_t used = 0;
  if (group) {
    words[used++] = 0;
  } else {
    words[used++] = ReadCount(machine, event);
  }
  if (event.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) words[used++] = event.enabled_ns;
  if (event.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) words[used++] = event.running_ns;
  if (group) {
    for (Event* member = &event; member != nullptr; member = member->next) {
      words[used++] = ReadCount(machine, *member);
      if (event.read_format & PERF_FORMAT_ID) words[used++] = member->id;
      ++words[0];
    }
  } else if (event.read_format & PERF_FORMAT_ID) {
    words[used++] = event.id;
  }
  if (event.leader->error) {
    return 0;
  }
  if (bytes < used * sizeof(uint64_t)) {
    return -ENOSPC;
  }
  memcpy(buffer, words, used * sizeof(uint64_t));
  return static_cast<ssize_t>(used * sizeof(uint64_t));
}

void StopAllEvents(Machine& machine) {
  const int end = fd_end.load(std::memory_order_relaxed);
  for (int fd = 0; fd < end; ++fd) {
    if (Event* const event = FindEvent(fd); event != nullptr) {
      SwitchEvent(machine, *event, false, false);
    }
  }
}

void CloseEvent(Machine& machine, Event& event) {
  events_by_fd[event.fd].store(nullptr, std::memory_order_release);
  if (event.owner == getpid()) {
    Schedule(machine, event.tid);
    if (event.leader == &event) {
      // Members that outlive their leader are groups of their own.
      for (Event* member = event.next; member != nullptr;) {
        Event* const rest = member->next;
        member->leader = member;
        member->next = nullptr;
        member = rest;
      }
    } else {
      Event* before = event.leader;
      while (before->next != &event) before = before->next;
      before->next = event.next;
    }
    Schedule(machine, event.tid);
  }
  munmap(&event, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace tinyprof::stand_in
