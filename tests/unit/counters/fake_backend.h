// A counter backend whose counts are what a test says, and which fails where a test says.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/counters/counter_backend.h"

namespace tinyprof {

class FakeBackend final : public CounterBackend {
 public:
  explicit FakeBackend(int max_threads = 1) : threads_(static_cast<size_t>(max_threads)) {
    info_.name = "papi";
    info_.pmu = "fake";
  }

  // What the CPU has.
  std::set<std::string> events;
  // Events that are refused for a reason of their own, whether the CPU has them or not.
  std::map<std::string, Error> refusals;
  size_t counters_per_group = 8;
  // Events that hold more than one counter, as AMD's FLOP event does.
  std::map<std::string, size_t> counters_of;
  BackendInfo info_;
  // Added to every event of the group at each read: what reading itself costs.
  int64_t read_cost = 0;
  // Reads, numbered from 0 over all threads, that fail, that leave the buffer as it was, or after
  // which a count has run back to 0.
  std::set<int64_t> failing_reads;
  std::set<int64_t> silent_reads;
  std::set<int64_t> resetting_reads;
  int64_t reads_done = 0;
  std::function<void(size_t events)> on_read;  // called by each read
  int groups_opened = 0;

  // Work that happens on a thread.
  void Happen(int thread, const std::string& event, int64_t count) {
    if (Thread(thread).running) {
      Thread(thread).counts[event] += count;
    }
  }

  const BackendInfo& info() const override { return info_; }

  Status AttachThread(int thread) override {
    Thread(thread).attached = true;
    return {};
  }

  Status OpenGroup(int thread, std::span<const std::string> wanted) override {
    if (!Thread(thread).attached || !Thread(thread).open.empty()) {
      return Fail(ErrorCode::kInternal, "PROTOCOL", "opened before attach or twice");
    }
    size_t counters = 0;
    for (const std::string& event : wanted) {
      if (const auto refusal = refusals.find(event); refusal != refusals.end()) {
        return tl::unexpected(refusal->second);
      }
      if (events.count(event) == 0) {
        return Fail(ErrorCode::kFailedPrecondition, "EVENT_NOT_ON_CPU", "no " + event);
      }
      counters += counters_of.count(event) == 0 ? 1 : counters_of[event];
    }
    if (counters > counters_per_group) {
      return Fail(ErrorCode::kResourceExhausted, "GROUP_FULL", "too many events");
    }
    Thread(thread).open.assign(wanted.begin(), wanted.end());
    Thread(thread).counts.clear();
    ++groups_opened;
    return {};
  }

  Status Start(int thread) override {
    Thread(thread).running = true;
    return {};
  }

  Status Read(int thread, std::span<int64_t> values) override {
    const int64_t number = reads_done++;
    if (on_read) {
      on_read(values.size());
    }
    if (failing_reads.count(number) != 0) {
      return Fail(ErrorCode::kAborted, "COUNTERS_LOST", "scripted");
    }
    State& state = Thread(thread);
    if (resetting_reads.count(number) != 0) {
      state.counts.clear();
    }
    for (size_t i = 0; i < values.size() && silent_reads.count(number) == 0; ++i) {
      values[i] = state.counts[state.open[i]];
    }
    for (const std::string& event : state.open) {
      state.counts[event] += read_cost;
    }
    return {};
  }

  Status Stop(int thread) override {
    Thread(thread).running = false;
    return {};
  }

  void CloseGroup(int thread) override {
    Thread(thread).open.clear();
    Thread(thread).running = false;
  }

 private:
  struct State {
    bool attached = false;
    bool running = false;
    std::vector<std::string> open;
    std::map<std::string, int64_t> counts;
  };
  State& Thread(int thread) { return threads_.at(static_cast<size_t>(thread)); }

  std::vector<State> threads_;
};

}  // namespace tinyprof
