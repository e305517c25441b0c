#include "client/lib/interrupts.h"

#include <signal.h>

#include <initializer_list>
#include <thread>
#include <utility>

namespace tinyprof::client {
namespace {

// timeout(1) signals its child and then its whole process group: one wish that comes twice. Nobody
// presses Ctrl-C again as fast.
constexpr auto kEcho = std::chrono::milliseconds(500);

}  // namespace

Interrupts::Interrupts(std::function<void()> leave, std::function<Clock::time_point()> now)
    : leave_(std::move(leave)), now_(std::move(now)) {}

Interrupts::Armed::Armed(Interrupts& owner, std::function<void()> on_first) : owner_(owner) {
  const std::lock_guard lock(owner_.mutex_);
  owner_.on_first_ = std::move(on_first);
}

Interrupts::Armed::~Armed() {
  const std::lock_guard lock(owner_.mutex_);
  owner_.on_first_ = nullptr;
}

void Interrupts::Trigger() {
  // The lock is held through the call so that what it uses outlives it: ~Armed waits.
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = now_();
  if (const auto on_first = std::exchange(on_first_, nullptr)) {
    first_ = now;
    on_first();
  } else if (!first_ || now - *first_ >= kEcho) {
    leave_();
  }
}

void WatchSignals(Interrupts& interrupts) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);
  std::thread([signals, &interrupts] {
    int number = 0;
    while (sigwait(&signals, &number) == 0) interrupts.Trigger();
  }).detach();
}

}  // namespace tinyprof::client
