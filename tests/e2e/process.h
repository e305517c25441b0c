// A child process whose output is kept, for tests that run the real programs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tinyprof::e2e {

class Process {
 public:
  // Starts `arguments`[0] with `environment` (NAME=value) and nothing else of ours. Output goes to
  // files below `directory`, which outlives the process.
  Process(const std::string& directory, const std::vector<std::string>& arguments,
          const std::vector<std::string>& environment = {});
  // Kills it if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  // The exit code, or 128 + the signal that ended it; nothing when it still runs after `timeout`.
  std::optional<int> Wait(std::chrono::seconds timeout);
  bool IsRunning();
  std::string Out() const;
  std::string Err() const;

 private:
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
  std::string out_path_;
  std::string err_path_;
};

// The process named `name` whose parent is `parent`, or 0.
pid_t ChildNamed(pid_t parent, const std::string& name);

}  // namespace tinyprof::e2e
