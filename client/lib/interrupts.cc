#include "client/lib/interrupts.h"

#include <signal.h>

#include <thread>
#include <utility>

namespace tinyprof::client {

Interrupts::Interrupts(std::function<void()> leave) : leave_(std::move(leave)) {}

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
  if (const auto on_first = std::exchange(on_first_, nullptr)) {
    on_first();
  } else {
    leave_();
  }
}

void WatchSignals(Interrupts& interrupts) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  std::thread([signals, &interrupts] {
    int number = 0;
    while (sigwait(&signals, &number) == 0) interrupts.Trigger();
  }).detach();
}

}  // namespace tinyprof::client
