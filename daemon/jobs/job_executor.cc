// The executor's side of JobQueue: the one thread that has things measured.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <string_view>
#include <utility>

#include "daemon/jobs/counters_failure.h"
#include "daemon/jobs/gap_classes.h"
#include "daemon/jobs/job_queue.h"
#include "daemon/jobs/outcome.h"
#include "daemon/jobs/roofline_join.h"
#include "daemon/jobs/roofline_setup.h"
#include "daemon/jobs/run_state.h"

namespace tinyprof {
namespace {

using google::protobuf::util::TimeUtil;
using std::chrono::steady_clock;

constexpr const char* kRooflinePhase = "roofline";
constexpr std::string_view kRooflineHint =
    " while the roofline of this host was being measured, which is done once for the CPUs that "
    "measure, before the first run on them: let `tinyprof-client roofline --measure` end, then run "
    "again";

// Whether counters do not count any more as the last calibration found them to.
bool CountersDoubted(const Result<worker::WorkerEvent>& ended) {
  return ended.has_value() ? ended->report().doubted_metrics_size() > 0
                           : ended.error().reason == "COUNTERS_UNAVAILABLE";
}

}  // namespace

void JobQueue::ExecutorLoop(const std::stop_token& stop) {
  while (true) {
    std::shared_ptr<Job> job;
    {
      Lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
      job = waiting_.front();
      waiting_.pop_front();
      current_ = job;
      Renumber();
    }
    if (job->is_run()) {
      ExecuteRun(job);
    } else {
      ExecuteExclusive(job);
    }
    const Lock lock(mutex_);
    current_.reset();
    changed_.notify_all();
  }
}

void JobQueue::ExecuteExclusive(const std::shared_ptr<Job>& job) {
  Result<worker::WorkerEvent> outcome;
  if (job->request.has_roofline()) {
    auto roofline = MeasureRooflineNow(dependencies_.host(), job->cancel.get_token());
    if (roofline.has_value()) {
      *outcome->mutable_roofline() = *std::move(roofline);
    } else {
      outcome = tl::unexpected(std::move(roofline).error());
    }
  } else {
    const WorkerTask task{
        .request = job->request,
        .model_fd = job->model_file.get(),
        .output_fd = job->output_file.get(),
        .deadline =
            steady_clock::now() + (job->request.has_counters() ? options_.calibration_timeout
                                                               : options_.exclusive_task_timeout)};
    const auto on_progress = [&](const v1::Progress& progress) { SetProgress(job, progress); };
    outcome = dependencies_.runner->Run(task, on_progress, job->cancel.get_token());
  }
  if (job->request.has_counters()) KeepCounters(outcome);
  const Lock lock(mutex_);
  const bool stopped = !outcome.has_value() && outcome.error().code == ErrorCode::kCancelled;
  if (stopped && job->cancel_reason) outcome = tl::unexpected(*job->cancel_reason);
  job->outcome = std::move(outcome);
  changed_.notify_all();
}

void JobQueue::ExecuteRun(const std::shared_ptr<Job>& job) {
  Status stored;
  {
    const Lock lock(mutex_);
    SetRunning(job->run);
    stored = dependencies_.store->runs().Update(job->run);
    if (dependencies_.on_run_changed) dependencies_.on_run_changed(job->run);
    Touch(*job);
  }
  Result<v1::RunReport> report =
      stored.has_value() ? Measure(job) : tl::unexpected(std::move(stored).error());
  const Lock lock(mutex_);
  // A run that was done when it was asked to stop has succeeded.
  const bool stopped = !report.has_value() && report.error().code == ErrorCode::kCancelled;
  if (stopped && job->cancel_reason) {
    Error reason = *job->cancel_reason;
    const bool by_caller = reason.reason == "CANCELLED";
    if (by_caller && job->run.progress().phase() == kRooflinePhase) reason.message += kRooflineHint;
    report = tl::unexpected(std::move(reason));
  }
  EndRun(job, std::move(report));
}

Result<v1::RunReport> JobQueue::Measure(const std::shared_ptr<Job>& job) {
  const v1::Host host = dependencies_.host();
  const Result<v1::Roofline> roofline = RooflineFor(job, host);
  const std::chrono::nanoseconds timeout(
      TimeUtil::DurationToNanoseconds(job->request.profile().timeout()));
  TINYPROF_ASSIGN_OR_RETURN(const std::optional<v1::CounterReport> known, CountersFor(job, host));
  if (job->cancel.stop_requested()) {
    return Fail(ErrorCode::kCancelled, "CANCELLED", "the run was cancelled");
  }
  WorkerTask task{.request = job->request,
                  .model_fd = job->model_file.get(),
                  .deadline = steady_clock::now() + timeout};
  if (known) *task.request.mutable_known_counters() = *known;
  if (events_off_) *task.request.mutable_events_off() = ToProto(*events_off_);
  const auto on_progress = [&](const v1::Progress& progress) { SetProgress(job, progress); };
  Result<worker::WorkerEvent> ended =
      dependencies_.runner->Run(task, on_progress, job->cancel.get_token());
  if (CountersDoubted(ended)) calibration_due_ = true;
  TINYPROF_ASSIGN_OR_RETURN(worker::WorkerEvent event, std::move(ended));
  if (!event.has_report()) return WrongOutcome("report");
  SetPhase(job, "finishing");
  v1::RunReport report = std::move(*event.mutable_report());
  *report.mutable_host() = host;
  // A run that was to count nothing has no table of its own.
  if (!report.has_trust() && known) *report.mutable_trust() = known->trust();
  AddTinyTorchFigures(report);
  AddGapClasses(host.vendor(), report);
  if (roofline.has_value()) {
    JoinRoofline(*roofline, report);
  } else {
    report.add_warnings(fmt::format(
        "the layers have no bounds, because the roofline could not be measured ({}): try "
        "`tinyprof-client roofline --measure`, then run again",
        roofline.error().message));
  }
  return report;
}

Result<v1::Roofline> JobQueue::RooflineFor(const std::shared_ptr<Job>& job, const v1::Host& host) {
  TINYPROF_ASSIGN_OR_RETURN(std::optional<v1::Roofline> stored,
                            dependencies_.store->rooflines().Newest(host.fingerprint()));
  if (stored && WhyNotForSetup(*stored, RooflineSetupNow()).empty()) return *std::move(stored);
  SetPhase(job, kRooflinePhase);
  return MeasureRooflineNow(host, job->cancel.get_token());
}

Result<v1::Roofline> JobQueue::MeasureRooflineNow(const v1::Host& host, std::stop_token cancel) {
  const WorkerTask task{.request = RooflineRequest(),
                        .deadline = steady_clock::now() + options_.exclusive_task_timeout};
  TINYPROF_ASSIGN_OR_RETURN(worker::WorkerEvent event,
                            dependencies_.runner->Run(task, {}, std::move(cancel)));
  if (!event.has_roofline()) return WrongOutcome("roofline");
  v1::Roofline roofline = std::move(*event.mutable_roofline());
  // The daemon knows more of the host than the worker, and looks a roofline up by what it knows.
  *roofline.mutable_host() = host;
  *roofline.mutable_setup() = RooflineSetupNow();
  TINYPROF_RETURN_IF_ERROR(dependencies_.store->rooflines().Put(host.fingerprint(), roofline));
  return roofline;
}

void JobQueue::SetPhase(const std::shared_ptr<Job>& job, std::string phase) {
  v1::Progress progress;
  progress.set_phase(std::move(phase));
  SetProgress(job, progress);
}

void JobQueue::SetProgress(const std::shared_ptr<Job>& job, const v1::Progress& progress) {
  const Lock lock(mutex_);
  *job->run.mutable_progress() = progress;
  Touch(*job);
}

}  // namespace tinyprof
