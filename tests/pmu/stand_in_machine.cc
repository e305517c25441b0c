#include "tests/pmu/stand_in_machine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tinyprof::stand_in {
namespace {

constexpr size_t kMaxRulesBytes = 64 * 1024;

Machine* machine = nullptr;

[[noreturn]] void GiveUp(const char* what, const char* which) {
  fprintf(stderr, "stand-in PMU: %s: %s\n", what, which);
  abort();
}

void ReadRules(const char* text) {
  if (const char* const bad_line = ParseRules(text, machine->rules); bad_line != nullptr) {
    GiveUp("cannot understand the rule", bad_line);
  }
}

void ReadRulesFile(const char* path) {
  using Open = FILE* (*)(const char*, const char*);
  FILE* const file = reinterpret_cast<Open>(NextFunction("fopen"))(path, "r");
  char* const text = static_cast<char*>(calloc(kMaxRulesBytes, 1));
  if (file == nullptr || text == nullptr) {
    GiveUp("cannot read the rules", path);
  }
  if (fread(text, 1, kMaxRulesBytes - 1, file) == kMaxRulesBytes - 1) {
    GiveUp("too many rules", path);
  }
  fclose(file);
  ReadRules(text);
  free(text);
}

void MakeMachine() {
  void* const memory = mmap(nullptr, sizeof(Machine), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    GiveUp("cannot have memory for", "its machine");
  }
  machine = static_cast<Machine*>(memory);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&machine->mutex, &attributes);
  machine->rules = Rules{};
  if (const char* const text = getenv("TINYPROF_STAND_IN_RULES"); text != nullptr) {
    ReadRules(text);
  } else if (const char* const path = getenv("TINYPROF_STAND_IN_FILE"); path != nullptr) {
    ReadRulesFile(path);
  }
}

// The slot of a thread; null when it has none. Slots fill up in order from the thread's own place,
// so the first free one ends the search.
std::atomic<pid_t>* NextSlot(ThreadWork* threads, pid_t tid, ThreadWork** found) {
  for (int probe = 0; probe < kMaxThreads; ++probe) {
    ThreadWork& slot = threads[(tid + probe) % kMaxThreads];
    const pid_t owner = slot.tid.load(std::memory_order_acquire);
    if (owner == tid) {
      *found = &slot;
      return nullptr;
    }
    if (owner == 0) {
      return &slot.tid;
    }
  }
  return nullptr;
}

ThreadWork* FindThread(ThreadWork* threads, pid_t tid) {
  ThreadWork* found = nullptr;
  NextSlot(threads, tid, &found);
  return found;
}

ThreadWork* FindOrAddThread(ThreadWork* threads, pid_t tid) {
  while (true) {
    ThreadWork* found = nullptr;
    std::atomic<pid_t>* const free_slot = NextSlot(threads, tid, &found);
    if (free_slot == nullptr) {
      return found;
    }
    pid_t nobody = 0;
    free_slot->compare_exchange_strong(nobody, tid, std::memory_order_acq_rel);
  }
}

}  // namespace

Machine& TheMachine() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, MakeMachine);
  return *machine;
}

Fault NextFault(Machine& m, Call call) {
  return FaultOf(m.rules, call, ++m.calls[static_cast<int>(call)]);
}

int64_t DeclaredBy(const Machine& m, pid_t tid, uint32_t signals) {
  const ThreadWork* const thread = FindThread(const_cast<ThreadWork*>(m.threads), tid);
  int64_t sum = 0;
  for (int signal = 0; thread != nullptr && signal < kWorkSignals; ++signal) {
    if (signals >> signal & 1) {
      sum += thread->counts[signal].load(std::memory_order_relaxed);
    }
  }
  return sum;
}

void* NextFunction(const char* name) {
  void* const function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) {
    GiveUp("the C library has no function", name);
  }
  return function;
}

}  // namespace tinyprof::stand_in

extern "C" {

__attribute__((visibility("default"))) void TinyprofDeclareWork(int signal, int64_t count) {
  using namespace tinyprof::stand_in;
  if (signal < 0 || signal >= tinyprof::kWorkSignals) {
    return;
  }
  ThreadWork* const thread = FindOrAddThread(TheMachine().threads, gettid());
  if (thread == nullptr) {
    GiveUp("too many threads declare work;", "it has no room for more");
  }
  thread->counts[signal].fetch_add(count, std::memory_order_relaxed);
}

// What the calling thread has declared of `signal` (a WorkSignal) so far.
__attribute__((visibility("default"))) int64_t TinyprofStandInDeclared(int signal) {
  using namespace tinyprof::stand_in;
  return signal < 0 || signal >= tinyprof::kWorkSignals
             ? 0
             : DeclaredBy(TheMachine(), gettid(), uint32_t{1} << signal);
}

// By this symbol a process knows that its counts are scripted.
__attribute__((visibility("default"))) extern const char TinyprofStandInPmu[] = "1";

// Replaces the rules, for events that are open too, and begins to count calls anew. Null, or the
// line that cannot be understood, in which case the rules stay as they were.
__attribute__((visibility("default"))) const char* TinyprofStandInSetRules(const char* text) {
  using namespace tinyprof::stand_in;
  static thread_local Rules rules;
  if (const char* const bad_line = ParseRules(text, rules); bad_line != nullptr) {
    return bad_line;
  }
  MachineLock lock;
  lock->rules = rules;
  memset(lock->calls, 0, sizeof(lock->calls));
  return nullptr;
}

}  // extern "C"
