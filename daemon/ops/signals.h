// Signals as events on one thread.
//
// Call BlockSignals() before any thread starts, so that no thread is ever interrupted; then a
// SignalWatcher hands each signal to its handler on a thread of its own.
#pragma once

#include <functional>
#include <thread>

namespace tinyprof {

// Ignores SIGPIPE and SIGXFSZ, so that a write that cannot be done is an error instead.
void IgnoreWriteSignals();
// Blocks SIGTERM, SIGINT and SIGHUP for this thread and all it will start.
void BlockSignals();

class SignalWatcher {
 public:
  // `handler` runs on the watcher's thread, one signal at a time, until the watcher is destroyed.
  explicit SignalWatcher(std::function<void(int signal)> handler);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

 private:
  void Watch();

  std::function<void(int)> handler_;
  int signal_fd_;
  int stop_fd_;
  std::thread thread_;
};

}  // namespace tinyprof
