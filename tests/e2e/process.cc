#include "tests/e2e/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace tinyprof::e2e {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Process::Process(const std::string& directory, const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment) {
  static std::atomic<int> next = 0;
  const std::string stem = directory + "/process-" + std::to_string(next++);
  out_path_ = stem + ".out";
  err_path_ = stem + ".err";
  std::vector<std::string> argument_texts = arguments;
  std::vector<std::string> environment_texts = environment;
  constexpr int kFlags = O_CREAT | O_WRONLY | O_TRUNC;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_path_.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_path_.c_str(), kFlags, 0600);
  const int error =
      posix_spawn(&pid_, arguments[0].c_str(), &actions, nullptr, Pointers(argument_texts).data(),
                  Pointers(environment_texts).data());
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error, 0) << "cannot start " << arguments[0];
  if (error != 0) exit_code_ = 127;
}

Process::~Process() {
  if (exit_code_) return;
  Signal(SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Process::Signal(int signal) const {
  if (!exit_code_) kill(pid_, signal);
}

std::optional<int> Process::Wait(std::chrono::seconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  while (IsRunning() && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return exit_code_;
}

bool Process::IsRunning() {
  int status = 0;
  if (exit_code_ || waitpid(pid_, &status, WNOHANG) != pid_) return !exit_code_;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return false;
}

std::string Process::Out() const { return Contents(out_path_); }
std::string Process::Err() const { return Contents(err_path_); }

pid_t ChildNamed(pid_t parent, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    // "pid (name) state parent ...", the name cut to 15 bytes.
    std::ifstream file(entry.path() / "stat");
    std::string pid, comm, state;
    pid_t its_parent = 0;
    file >> pid >> comm >> state >> its_parent;
    if (file && its_parent == parent && comm == fmt::format("({})", name.substr(0, 15))) {
      return static_cast<pid_t>(std::stol(pid));
    }
  }
  return 0;
}

}  // namespace tinyprof::e2e
