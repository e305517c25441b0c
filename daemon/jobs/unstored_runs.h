// Runs that have ended and that the store has not taken yet, such as when its disk is full.
//
// What was measured is not lost by that: the run stays in memory, with its report, until the store
// takes it. Not thread-safe: JobQueue guards it with its mutex.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "daemon/jobs/job.h"
#include "daemon/store/run_store.h"
#include "kernels/base/error.h"

namespace tinyprof {

class UnstoredRuns {
 public:
  // Reports of more runs than that are dropped, the oldest first: those runs become FAILED with the
  // error of the store. A report of a large model takes some MiB.
  static constexpr size_t kMaxReports = 16;

  // Keeps a run that has ended and that the store refused for `why`.
  void Keep(const std::shared_ptr<Job>& job, Error why);
  // Writes them, the oldest first, until the store refuses one. Returns the ids of those that need
  // not be kept any more: they were written, or deleted from the store meanwhile.
  std::vector<std::string> Write(RunStore& runs);

  const std::deque<std::shared_ptr<Job>>& jobs() const { return jobs_; }

 private:
  void DropOldReports();

  std::deque<std::shared_ptr<Job>> jobs_;  // oldest first; each has `unstored`
};

// The run of `job` for a caller: with a warning when it has a report that is not stored.
v1::Run ShownRun(const Job& job);

}  // namespace tinyprof
