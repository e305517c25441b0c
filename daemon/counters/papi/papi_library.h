// PAPI's process-wide state.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "daemon/counters/counter_backend.h"
#include "daemon/counters/counter_errors.h"
#include "daemon/counters/system_facts.h"
#include "kernels/base/error.h"

namespace tinyprof {

class PapiLibrary {
 public:
  // The first call initialises PAPI on the calling thread.
  static PapiLibrary& Get();

  const BackendInfo& info() const { return info_; }
  const RefusalContext& context() const { return context_; }
  // Whether event sets can be made at all: PAPI runs and its perf_event component is on.
  const Status& ready() const { return ready_; }

  // Registers the calling thread, which must happen before it calls anything else of PAPI.
  Status RegisterThread();
  // PAPI's code of an event name. Any registered thread; look-ups take turns, since PAPI's own
  // tables are not safe to extend from two threads.
  Result<int> EventCode(const std::string& event);

 private:
  PapiLibrary();
  Status Initialize(const SystemFacts& facts);
  Status FindComponent();

  BackendInfo info_;
  RefusalContext context_;
  Status ready_;
  std::mutex names_mutex_;
  std::unordered_map<std::string, int> codes_;
};

}  // namespace tinyprof
