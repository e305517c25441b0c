// A child process that is sure to be reaped.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace tinyprof {

// Kills with SIGKILL and reaps in the destructor what was not reaped before. Used by one thread.
class Child {
 public:
  explicit Child(pid_t pid);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  struct Exit {
    int wait_status = 0;
    // The most memory it held; 0 when that was no more than this process had held before it, which
    // the kernel then tells in its place.
    int64_t max_resident_bytes = 0;
  };

  void Signal(int signal_number);
  // Waits for the end until `deadline`.
  std::optional<Exit> WaitUntil(std::chrono::steady_clock::time_point deadline);
  // SIGTERM, then SIGKILL after `grace`, unless it ends by itself before.
  Exit Stop(std::chrono::milliseconds grace);

 private:
  bool Reap(int options);

  pid_t pid_;
  int64_t parent_peak_bytes_;
  std::optional<Exit> exit_;
};

}  // namespace tinyprof
