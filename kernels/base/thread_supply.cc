#include "kernels/base/thread_supply.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <string>
#include <vector>

namespace tinyprof {
namespace {

void* WaitForRelease(void* release) {
  static_cast<std::shared_future<void>*>(release)->wait();
  return nullptr;
}

// How many of `wanted` threads can be had at once.
int StartThreads(int wanted) {
  constexpr long kStackBytes = 64 << 10;
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return 0;
  const long stack_bytes = std::max(kStackBytes, ::sysconf(_SC_THREAD_STACK_MIN));
  ::pthread_attr_setstacksize(&attributes, static_cast<size_t>(stack_bytes));
  std::promise<void> promise;
  std::shared_future<void> release(promise.get_future());
  std::vector<pthread_t> threads;
  for (pthread_t thread{}; static_cast<int>(threads.size()) < wanted; threads.push_back(thread)) {
    if (::pthread_create(&thread, &attributes, WaitForRelease, &release) != 0) break;
  }
  promise.set_value();
  for (const pthread_t thread : threads) ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
  return static_cast<int>(threads.size());
}

}  // namespace

Status CheckThreadSupply(std::string_view program, int needed) {
  const int started = StartThreads(needed);
  if (started == needed) return {};
  rlimit processes{};
  const bool limited =
      ::getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY;
  const std::string now =
      limited ? fmt::format(" (for all processes of this user it is {})", processes.rlim_cur) : "";
  return Fail(ErrorCode::kFailedPrecondition, "LIMIT_TOO_LOW",
              fmt::format("only {} of the {} threads that {} needs at least can be started: raise "
                          "the limit of processes{} with `ulimit -u 1024`, or LimitNPROC=1024 and "
                          "TasksMax=1024 in a service's unit, or the pids limit of the container",
                          started, needed, program, now));
}

}  // namespace tinyprof
