#include "daemon/jobs/unstored_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/jobs/run_state.h"

namespace tinyprof {

void UnstoredRuns::Keep(const std::shared_ptr<Job>& job, Error why) {
  job->unstored = std::move(why);
  jobs_.push_back(job);
  DropOldReports();
}

void UnstoredRuns::DropOldReports() {
  auto report_count = static_cast<size_t>(std::count_if(
      jobs_.begin(), jobs_.end(), [](const auto& job) { return job->run.has_report(); }));
  for (const std::shared_ptr<Job>& job : jobs_) {
    if (report_count <= kMaxReports) return;
    if (!job->run.has_report()) continue;
    SetError(job->run, *job->unstored);
    ++job->version;
    --report_count;
  }
}

std::vector<std::string> UnstoredRuns::Write(RunStore& runs) {
  std::vector<std::string> done;
  while (!jobs_.empty()) {
    Job& job = *jobs_.front();
    const Status stored = runs.Finish(job.run);
    if (!stored.has_value() && stored.error().code != ErrorCode::kNotFound) {
      job.unstored = stored.error();
      break;
    }
    done.push_back(job.run.id());
    jobs_.pop_front();
  }
  return done;
}

v1::Run ShownRun(const Job& job) {
  v1::Run run = job.run;
  if (job.unstored && run.has_report()) {
    run.mutable_report()->add_warnings(
        fmt::format("the result could not be stored yet ({}): tinyprofd keeps it in memory and "
                    "stores it once that works, but it is lost if tinyprofd ends before",
                    job.unstored->message));
  }
  return run;
}

}  // namespace tinyprof
