#include "daemon/worker/child.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <thread>

namespace tinyprof {

namespace {

int64_t PeakBytes(const rusage& usage) { return int64_t{usage.ru_maxrss} * 1024; }

int64_t OwnPeakBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return PeakBytes(usage);
}

}  // namespace

Child::Child(pid_t pid) : pid_(pid), parent_peak_bytes_(OwnPeakBytes()) {}

Child::~Child() {
  Signal(SIGKILL);
  Reap(0);
}

void Child::Signal(int signal_number) {
  if (!exit_) ::kill(pid_, signal_number);
}

bool Child::Reap(int options) {
  while (!exit_) {
    int wait_status = 0;
    rusage usage{};
    const pid_t reaped = ::wait4(pid_, &wait_status, options, &usage);
    if (reaped == 0) return false;
    if (reaped < 0 && errno == EINTR) continue;
    // An error here means that somebody else has reaped it, and how it ended is lost.
    exit_ =
        Exit{.wait_status = reaped == pid_ ? wait_status : 0,
             .max_resident_bytes = PeakBytes(usage) > parent_peak_bytes_ ? PeakBytes(usage) : 0};
  }
  return true;
}

std::optional<Child::Exit> Child::WaitUntil(std::chrono::steady_clock::time_point deadline) {
  // Only ever called when the end is near, so that polling costs a few wake-ups.
  while (!Reap(WNOHANG)) {
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return exit_;
}

Child::Exit Child::Stop(std::chrono::milliseconds grace) {
  Signal(SIGTERM);
  if (const auto exit = WaitUntil(std::chrono::steady_clock::now() + grace)) return *exit;
  Signal(SIGKILL);
  Reap(0);
  return *exit_;
}

}  // namespace tinyprof
