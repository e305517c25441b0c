// Ctrl-C and SIGTERM. The first is handed to whoever is armed (to cancel a run in an orderly way);
// with nobody armed, or the second time, the process leaves at once with exit code 130.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

namespace tinyprof::client {

class Interrupts {
 public:
  using Clock = std::chrono::steady_clock;

  // `leave` ends the process; tests give a function that records the call, and a clock.
  explicit Interrupts(std::function<void()> leave,
                      std::function<Clock::time_point()> now = Clock::now);

  // Holds `on_first` armed while it lives. `on_first` is called on the signal thread, at most once.
  class Armed {
   public:
    Armed(Interrupts& owner, std::function<void()> on_first);
    ~Armed();
    Armed(const Armed&) = delete;
    Armed& operator=(const Armed&) = delete;

   private:
    Interrupts& owner_;
  };

  // A signal has come. Any thread but a signal handler's.
  void Trigger();

 private:
  const std::function<void()> leave_;
  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::optional<Clock::time_point> first_;  // when on_first_ was last called
  std::function<void()> on_first_;
};

// Blocks SIGINT and SIGTERM for this and all later threads and starts the thread that waits for
// them; ignores SIGPIPE and SIGXFSZ, whose
// writes then fail with EPIPE and EFBIG. Call it once, before any other thread exists.
void WatchSignals(Interrupts& interrupts);

}  // namespace tinyprof::client
