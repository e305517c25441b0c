// The machine that the stand-in PMU pretends to be: its rules, and the work its threads declared.
// In anonymous memory that forked children share, made at first use.
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include <atomic>

#include "kernels/base/declared_work.h"
#include "tests/pmu/stand_in_rules.h"

namespace tinyprof::stand_in {

// Threads that may declare work in one run; slots are never given back.
inline constexpr int kMaxThreads = 4096;

struct ThreadWork {
  std::atomic<pid_t> tid;  // 0: free
  std::atomic<int64_t> counts[kWorkSignals];
};

struct Machine {
  pthread_mutex_t mutex;  // guards all but `threads`, and every event
  Rules rules;
  int64_t calls[5];  // by Call, since the rules were given
  uint64_t last_id;
  ThreadWork threads[kMaxThreads];
};

// The first call reads the rules from the text in TINYPROF_STAND_IN_RULES, or the file that
// TINYPROF_STAND_IN_FILE names; with neither there is no event, as on a machine without a PMU.
// Rules that cannot be understood end the process.
Machine& TheMachine();

// Holds the machine still for as long as it lives.
class MachineLock {
 public:
  MachineLock() : machine_(TheMachine()) { pthread_mutex_lock(&machine_.mutex); }
  ~MachineLock() { pthread_mutex_unlock(&machine_.mutex); }
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;
  Machine& operator*() { return machine_; }
  Machine* operator->() { return &machine_; }

 private:
  Machine& machine_;
};

// Counts a call and says what becomes of it. The lock is held.
Fault NextFault(Machine& machine, Call call);

// What thread `tid` has declared so far of a set of signals (EventRule::signals).
int64_t DeclaredBy(const Machine& machine, pid_t tid, uint32_t signals);

// The C library's function of this name, behind our own.
void* NextFunction(const char* name);

}  // namespace tinyprof::stand_in
