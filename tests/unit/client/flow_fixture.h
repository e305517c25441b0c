// The client against a fake daemon on a socket of its own.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/client/fake_daemon.h"
#include "tests/unit/client/fixture.h"
#include "tests/unit/client/harness.h"

namespace tinyprof::client {

class Flow : public testing::Test {
 protected:
  Caught Call(std::vector<std::string> args) {
    args.insert(args.end(), {"--address", daemon_.address()});
    return RunCaught(args, interrupts_);
  }

  // Calls `then` once `daemon` is in WatchRun.
  static std::thread WhenWatched(FakeDaemon& daemon, std::function<void()> then) {
    return std::thread([&daemon, then = std::move(then)] {
      while (daemon.profiler.watch_calls == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      then();
    });
  }

  FakeDaemon daemon_;
  std::atomic<int> left_ = 0;
  Interrupts interrupts_{[this] { ++left_; }};
};

}  // namespace tinyprof::client
