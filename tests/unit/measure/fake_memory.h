// Memory controllers whose counts are what a test says, at rest and while passes run.
#pragma once

#include <functional>
#include <memory>

#include "daemon/measure/memory_traffic.h"
#include "fake_workload.h"
#include "tests/unit/counters/fake_perf_calls.h"
#include "tests/unit/counters/machine_with_uncore.h"

namespace tinyprof {

// A machine without any.
inline MemoryControllers NoMemoryControllers() {
  return {.open = [] { return UncoreMemoryTraffic::Open({}, "/nowhere"); }, .sleep = {}};
}

// One channel on one socket, which counts lines of 64 bytes.
class FakeMemory {
 public:
  explicit FakeMemory(FakeClock& clock) : clock_(clock) {
    machine_.AddIntelChannel("uncore_imc_0", 14, "0");
  }

  // Lines that go through the controller now.
  void Move(uint64_t read, uint64_t written) {
    kernel.values[{14, 0x0304}] += read;
    kernel.values[{14, 0x0c04}] += written;
  }

  MemoryControllers controllers() {
    return {.open =
                [this] {
                  return UncoreMemoryTraffic::Open({.perf_event_paranoid = 2}, machine_.root(),
                                                   kernel);
                },
            .sleep =
                [this](int64_t ns) {
                  clock_.now_ns += ns;
                  slept_ns += ns;
                  if (on_sleep) {
                    on_sleep(++sleeps);
                  }
                }};
  }

  FakePerfCalls kernel;
  std::function<void(int sleep)> on_sleep;  // the first is 1
  int sleeps = 0;
  int64_t slept_ns = 0;

 private:
  FakeClock& clock_;
  MachineWithUncore machine_;
};

}  // namespace tinyprof
