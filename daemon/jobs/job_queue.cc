#include "daemon/jobs/job_queue.h"

#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <utility>

#include "daemon/jobs/outcome.h"
#include "daemon/jobs/run_id.h"
#include "daemon/jobs/run_state.h"
#include "kernels/base/check.h"
#include "kernels/base/utf8.h"
#include "kernels/base/words.h"

namespace tinyprof {
namespace {

constexpr int32_t kDefaultPageSize = 50;
constexpr int32_t kMaxPageSize = 1000;
constexpr size_t kMaxRequestIdLength = 64;
// The version of a run that will not change any more.
constexpr uint64_t kLastVersion = UINT64_MAX;

Error CancelledByCaller() {
  return {ErrorCode::kCancelled, "CANCELLED", "the run was cancelled on request"};
}

// A run stays known and says why it was cancelled; the caller of an exclusive task may try again.
Error StoppedByDrain(const Job& job) {
  if (!job.is_run()) return ShuttingDown();
  return {ErrorCode::kCancelled, "DRAINING",
          "tinyprofd was stopped before the run had ended: start it again"};
}

Status CheckRequestId(std::string_view request_id) {
  const bool valid = request_id.size() <= kMaxRequestIdLength &&
                     std::all_of(request_id.begin(), request_id.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '-' || c == '_';
                     });
  if (valid) return {};
  return Fail(ErrorCode::kInvalidArgument, "BAD_REQUEST_ID",
              fmt::format("request_id must be at most {} of [A-Za-z0-9_-]", kMaxRequestIdLength));
}

v1::Run WithoutReport(const Job& job) {
  v1::Run run = job.run;
  run.clear_report();
  return run;
}

}  // namespace

JobQueue::JobQueue(JobQueueOptions options, JobQueueDependencies dependencies)
    : options_(std::move(options)), dependencies_(std::move(dependencies)) {
  TINYPROF_CHECK(!options_.measurement_cpus.empty());
  TINYPROF_CHECK(dependencies_.store && dependencies_.runner && dependencies_.models);
  TINYPROF_CHECK(dependencies_.host);
  executor_ = std::jthread([this](const std::stop_token& stop) { ExecutorLoop(stop); });
}

JobQueue::~JobQueue() {
  Drain(std::chrono::nanoseconds(0));
  executor_.request_stop();
}

Status JobQueue::CheckRoom() const {
  if (draining_) return tl::unexpected(ShuttingDown());
  if (waiting_.size() >= options_.max_waiting_jobs) {
    return Fail(
        ErrorCode::kResourceExhausted, "QUEUE_FULL",
        fmt::format("{} already, which is the limit (queue_limit of tinyprofd): try again later",
                    Counted(static_cast<int64_t>(waiting_.size()), "job waits", "jobs wait")),
        {{"waiting", std::to_string(waiting_.size())}});
  }
  return {};
}

void JobQueue::Enqueue(const std::shared_ptr<Job>& job) {
  waiting_.push_back(job);
  Renumber();
}

bool JobQueue::RemoveWaiting(const std::shared_ptr<Job>& job) {
  if (std::erase(waiting_, job) == 0) return false;
  Renumber();
  return true;
}

void JobQueue::Renumber() {
  int32_t position = 0;
  const std::string waits_for = WaitsFor();
  for (const std::shared_ptr<Job>& job : waiting_) {
    ++position;
    if (!job->is_run()) continue;
    if (job->run.queue_position() == position && job->run.waits_for() == waits_for) continue;
    job->run.set_queue_position(position);
    job->run.set_waits_for(waits_for);
    ++job->version;
  }
  changed_.notify_all();
}

std::string JobQueue::WaitsFor() const {
  if (!current_) return "";
  if (!current_->is_run()) return "another task";
  constexpr size_t kMaxModelBytes = 60;
  const std::string& model = current_->run.spec().model().text();
  return fmt::format("run {} ({}{})", current_->run.id(), ValidUtf8(model, kMaxModelBytes),
                     model.size() > kMaxModelBytes ? "..." : "");
}

void JobQueue::Touch(Job& job) {
  ++job.version;
  changed_.notify_all();
}

void JobQueue::EndRun(const std::shared_ptr<Job>& job, Result<v1::RunReport> report) {
  v1::Run run = job->run;
  if (report.has_value()) {
    SetSucceeded(run, *std::move(report));
  } else {
    SetError(run, report.error());
  }
  const Status stored = dependencies_.store->runs().Finish(run);
  job->run = std::move(run);
  if (stored.has_value()) {
    job->run.clear_report();
    runs_.erase(job->run.id());
    StoreUnstored();
  } else {
    // The store still says that the run goes on; what this process knows goes before it.
    unstored_.Keep(job, stored.error());
    TellUnstored(*job);
  }
  if (dependencies_.on_run_changed) dependencies_.on_run_changed(WithoutReport(*job));
  Touch(*job);
}

void JobQueue::TellUnstored(const Job& job) const {
  if (!dependencies_.on_trouble) return;
  Error error = *job.unstored;
  error.message = fmt::format("run {} is kept in memory: {}", job.run.id(), error.message);
  dependencies_.on_trouble("run_not_stored", error);
}

void JobQueue::StoreUnstored() {
  for (const std::string& id : unstored_.Write(dependencies_.store->runs())) runs_.erase(id);
}

Result<std::optional<v1::Run>> JobQueue::FindRepeated(const v1::RunSpec& spec,
                                                      std::string_view request_id) {
  if (request_id.empty()) return std::nullopt;
  TINYPROF_ASSIGN_OR_RETURN(std::optional<v1::Run> found,
                            dependencies_.store->runs().FindByRequestId(request_id));
  if (!found) return std::nullopt;
  if (!google::protobuf::util::MessageDifferencer::Equals(found->spec(), spec)) {
    return Fail(ErrorCode::kAlreadyExists, "REQUEST_ID_CONFLICT",
                fmt::format("request_id {} was used for another run, {}: use a new one", request_id,
                            found->id()),
                {{"request_id", std::string(request_id)}, {"id", found->id()}});
  }
  const auto active = runs_.find(found->id());
  return active == runs_.end() ? std::move(found) : WithoutReport(*active->second);
}

Result<v1::Run> JobQueue::Start(const v1::RunSpec& asked, std::string_view request_id) {
  const RunLimits limits{.max_threads = static_cast<int>(options_.measurement_cpus.size()),
                         .memory_limit_bytes = options_.memory_limit_bytes,
                         .max_timeout = options_.max_run_timeout};
  TINYPROF_RETURN_IF_ERROR(CheckRequestId(request_id));
  TINYPROF_ASSIGN_OR_RETURN(const v1::RunSpec spec, CheckRunSpec(asked, limits));
  TINYPROF_ASSIGN_OR_RETURN(const v1::ModelAnalysis analysis,
                            dependencies_.models->Analyze(spec.model()));
  TINYPROF_RETURN_IF_ERROR(CheckModelSize(analysis, options_.memory_limit_bytes));
  TINYPROF_ASSIGN_OR_RETURN(std::optional<UniqueFd> model_file,
                            dependencies_.models->OpenFile(spec.model()));

  const Lock lock(mutex_);
  TINYPROF_ASSIGN_OR_RETURN(const std::optional<v1::Run> repeated, FindRepeated(spec, request_id));
  if (repeated) return *repeated;
  TINYPROF_RETURN_IF_ERROR(CheckRoom());
  auto job = std::make_shared<Job>();
  job->run = NewRun(NewRunId(), spec);
  job->request.set_memory_limit_bytes(options_.memory_limit_bytes);
  job->request.set_has_model_file(model_file.has_value());
  *job->request.mutable_profile() = spec;
  const auto& cpus = options_.measurement_cpus;
  job->request.mutable_cpus()->Assign(cpus.begin(), cpus.begin() + spec.threads());
  if (model_file) job->model_file = *std::move(model_file);
  TINYPROF_RETURN_IF_ERROR(dependencies_.store->runs().Create(job->run, request_id));
  runs_.emplace(job->run.id(), job);
  if (dependencies_.on_run_changed) dependencies_.on_run_changed(job->run);
  Enqueue(job);
  return job->run;
}

Result<v1::Run> JobQueue::Get(std::string_view id) {
  {
    const Lock lock(mutex_);
    if (const auto found = runs_.find(id); found != runs_.end()) return ShownRun(*found->second);
  }
  return dependencies_.store->runs().Get(id);
}

Result<RunPage> JobQueue::List(int32_t page_size, std::string_view page_token) {
  if (page_size < 0 || page_size > kMaxPageSize) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_PAGE_SIZE",
                fmt::format("page_size is {} and must be 1 to {}, or 0 for {}", page_size,
                            kMaxPageSize, kDefaultPageSize),
                {{"page_size", std::to_string(page_size)}});
  }
  TINYPROF_ASSIGN_OR_RETURN(
      RunPage page,
      dependencies_.store->runs().List(page_size == 0 ? kDefaultPageSize : page_size, page_token));
  const Lock lock(mutex_);
  for (v1::Run& run : page.runs) {
    if (const auto found = runs_.find(run.id()); found != runs_.end())
      run = WithoutReport(*found->second);
  }
  return page;
}

void JobQueue::CancelWaiting(const std::shared_ptr<Job>& job, const Error& why) {
  if (job->is_run()) {
    EndRun(job, tl::unexpected(why));
  } else {
    job->outcome = tl::unexpected(why);
    changed_.notify_all();
  }
}

Result<CancelOutcome> JobQueue::Cancel(std::string_view id) {
  std::shared_ptr<Job> job;
  {
    const Lock lock(mutex_);
    if (const auto found = runs_.find(id); found != runs_.end()) job = found->second;
    if (job && IsEnded(job->run.state())) return CancelOutcome{ShownRun(*job), true};
    if (job && RemoveWaiting(job)) {
      CancelWaiting(job, CancelledByCaller());
      return CancelOutcome{job->run, false};
    }
    if (job && !job->cancel_reason) job->cancel_reason = CancelledByCaller();
  }
  // Outside of the lock, because this runs the callbacks of whoever waits for the stop.
  if (job) job->cancel.request_stop();
  TINYPROF_ASSIGN_OR_RETURN(v1::Run run, Get(id));
  return CancelOutcome{std::move(run), job == nullptr};
}

Status JobQueue::Delete(std::string_view id) {
  const Lock lock(mutex_);
  if (const auto found = runs_.find(id); found != runs_.end() && found->second->unstored) {
    const std::shared_ptr<Job> job = found->second;
    StoreUnstored();
    if (runs_.contains(id)) return tl::unexpected(*job->unstored);
  }
  TINYPROF_RETURN_IF_ERROR(dependencies_.store->runs().Delete(id));
  // There may be room now.
  StoreUnstored();
  return {};
}

Result<RunSnapshot> JobQueue::Watch(std::string_view id, uint64_t last_version,
                                    std::chrono::steady_clock::time_point deadline) {
  {
    Lock lock(mutex_);
    while (true) {
      const auto found = runs_.find(id);
      if (found == runs_.end()) break;
      const Job& job = *found->second;
      const bool ended = IsEnded(job.run.state());
      const bool late = std::chrono::steady_clock::now() >= deadline;
      if (job.version > last_version || ended || late)
        return RunSnapshot{ShownRun(job), job.version, ended};
      changed_.wait_until(lock, deadline);
    }
  }
  TINYPROF_ASSIGN_OR_RETURN(v1::Run run, dependencies_.store->runs().Get(id));
  return RunSnapshot{std::move(run), kLastVersion, true};
}

void JobQueue::Drain(std::chrono::nanoseconds timeout) {
  Lock lock(mutex_);
  draining_ = true;
  while (!waiting_.empty()) {
    const std::shared_ptr<Job> job = waiting_.back();
    waiting_.pop_back();
    CancelWaiting(job, StoppedByDrain(*job));
  }
  const auto idle = [this] { return current_ == nullptr; };
  if (current_ && current_->request.has_counters()) timeout = {};
  if (!changed_.wait_for(lock, timeout, idle)) {
    const std::shared_ptr<Job> job = current_;
    if (!job->cancel_reason) job->cancel_reason = StoppedByDrain(*job);
    lock.unlock();
    job->cancel.request_stop();
    lock.lock();
    changed_.wait(lock, idle);
  }
  StoreUnstored();
  for (const std::shared_ptr<Job>& job : unstored_.jobs()) TellUnstored(*job);
}

size_t JobQueue::depth() const {
  const Lock lock(mutex_);
  return waiting_.size() + (current_ ? 1 : 0);
}

}  // namespace tinyprof
