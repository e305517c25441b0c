// One group of events on every thread of the team.
//
// Every call enters a parallel region in which each thread handles its own event set; with one
// thread there is no region.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "daemon/counters/counter_backend.h"
#include "daemon/measure/clock.h"
#include "kernels/base/error.h"

namespace tinyprof {

class TeamCounters {
 public:
  TeamCounters(CounterBackend& backend, int threads);
  ~TeamCounters() { Close(); }
  TeamCounters(const TeamCounters&) = delete;
  TeamCounters& operator=(const TeamCounters&) = delete;

  // Opens and starts `events` on every thread; nothing stays open after an error.
  Status Open(std::span<const std::string> events);
  void Close();

  // Values of one Read.
  size_t value_count() const { return static_cast<size_t>(threads_) * event_count_; }
  size_t event_count() const { return event_count_; }
  // Writes the counts of thread t, event e to values[t * event_count() + e]; what could not be read
  // stays kUntouched. Allocates nothing when it succeeds.
  Status Read(std::span<int64_t> values);

  // What one read of the group costs each thread, in ns by thread: the mean of `reads` of them back
  // to back, without the region around them. `clock` is read by all threads at once.
  Result<std::vector<double>> ThreadReadCostNs(Clock& clock, int reads);
  // The CPU that each thread is on, by thread; `current_cpu` is called on each.
  std::vector<int> Cpus(const std::function<int()>& current_cpu);

 private:
  template <class Call>
  Status OnEachThread(const Call& call);

  CounterBackend& backend_;
  int threads_;
  size_t event_count_ = 0;
  std::vector<Status> statuses_;  // by thread
};

}  // namespace tinyprof
