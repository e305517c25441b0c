#include "daemon/ops/signals.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <vector>

namespace tinyprof {
namespace {

// Blocked before main starts, as the daemon does before any thread.
const bool kBlocked = (IgnoreWriteSignals(), BlockSignals(), true);

TEST(SignalWatcher, HandsEachSignalToItsHandler) {
  ASSERT_TRUE(kBlocked);
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> seen;
  const SignalWatcher watcher([&](int signal) {
    const std::lock_guard lock(mutex);
    seen.push_back(signal);
    changed.notify_all();
  });
  for (const int signal : {SIGHUP, SIGTERM, SIGINT, SIGTERM}) {
    std::unique_lock lock(mutex);
    const size_t before = seen.size();
    kill(getpid(), signal);
    ASSERT_TRUE(
        changed.wait_for(lock, std::chrono::seconds(10), [&] { return seen.size() > before; }));
  }
  EXPECT_EQ(seen, (std::vector<int>{SIGHUP, SIGTERM, SIGINT, SIGTERM}));
}

TEST(SignalWatcher, EndsWithoutASignal) {
  int calls = 0;
  {
    const SignalWatcher watcher([&](int) { ++calls; });
  }
  EXPECT_EQ(calls, 0);
}

TEST(IgnoreWriteSignals, LetsAWriteToAClosedPipeReturn) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  close(ends[1]);
}

TEST(IgnoreWriteSignals, LetsAWriteBeyondTheLimitOfFilesReturn) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{.rlim_cur = 0, .rlim_max = 0};
    FILE* file = std::tmpfile();
    if (file == nullptr || setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(1);
    _exit(write(fileno(file), "x", 1) < 0 && errno == EFBIG ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tinyprof
