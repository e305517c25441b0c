// Layers whose times and counts are what a test says, on a clock that only they and reads move.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "daemon/measure/clock.h"
#include "daemon/measure/workload.h"
#include "tests/unit/counters/fake_backend.h"

namespace tinyprof {

class FakeClock final : public Clock {
 public:
  int64_t NowNs() noexcept override { return now_ns += read_cost_ns; }
  std::atomic<int64_t> now_ns = 1'000'000;
  int64_t read_cost_ns = 20;
};

class FakeWorkload final : public Workload {
 public:
  FakeWorkload(FakeClock& clock, std::vector<int64_t> layer_ns)
      : layer_ns_(std::move(layer_ns)), runs(layer_ns_.size()), clock_(clock) {}

  size_t node_count() const override { return layer_ns_.size(); }
  void RunNode(size_t node) noexcept override {
    ++runs[node];
    clock_.now_ns += layer_ns_[node] + (extra_ns ? extra_ns(node, runs[node]) : 0);
    if (on_run) {
      on_run(node);
    }
  }
  void RunAll() noexcept override {
    ++bare_passes;
    for (size_t node = 0; node < node_count(); ++node) {
      RunNode(node);
    }
  }
  void FlushCaches() noexcept override {
    ++flushes;
    clock_.now_ns += 1'000'000;
  }
  LayerWork work(size_t node) const override { return layer_work(node); }

 private:
  std::vector<int64_t> layer_ns_;

 public:
  std::vector<int> runs;  // by node
  int bare_passes = 0;
  int flushes = 0;
  // Added to a run of a node, by how often it has run.
  std::function<int64_t(size_t node, int run)> extra_ns;
  std::function<void(size_t node)> on_run;
  std::function<LayerWork(size_t node)> layer_work = [](size_t) { return LayerWork{}; };

 private:
  FakeClock& clock_;
};

}  // namespace tinyprof
