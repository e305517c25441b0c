// What the executor of JobQueue knows of the counters, from the last time they were calibrated.
#include <google/protobuf/util/time_util.h>

#include <utility>

#include "daemon/jobs/counters_failure.h"
#include "daemon/jobs/job_queue.h"
#include "daemon/jobs/outcome.h"

namespace tinyprof {
namespace {

using google::protobuf::util::TimeUtil;

}  // namespace

worker::WorkerRequest JobQueue::CountersRequest() const {
  worker::WorkerRequest request;
  request.add_cpus(options_.measurement_cpus.front());
  request.set_memory_limit_bytes(options_.memory_limit_bytes);
  request.mutable_counters();
  return request;
}

void JobQueue::KeepCounters(Result<worker::WorkerEvent>& outcome) {
  if (outcome.has_value() && !outcome->has_counters()) return;
  if (!outcome.has_value()) {
    std::optional<Refusal> why = RefusalOfCounters(outcome.error(), options_.calibration_timeout);
    if (!why) return;
    if (dependencies_.on_trouble) dependencies_.on_trouble("counters_failed", outcome.error());
    outcome = worker::WorkerEvent();
    *outcome->mutable_counters() = UntriedCounters(*why);
    events_off_ = std::move(why);
    counters_fingerprint_.reset();
  } else {
    events_off_.reset();
    StoreCounters(outcome->counters().counters());
  }
  calibration_due_ = false;
  *outcome->mutable_counters()->mutable_calibrate_time() = TimeUtil::GetCurrentTime();
}

void JobQueue::StoreCounters(const v1::CounterReport& counters) {
  const std::string fingerprint = dependencies_.host().fingerprint();
  counters_fingerprint_ = fingerprint;
  unstored_counters_.reset();
  const Status stored = dependencies_.store->counter_reports().Put(fingerprint, counters);
  if (stored.has_value()) return;
  // What was found holds for the runs of this daemon, whatever its store can take.
  unstored_counters_ = counters;
  if (dependencies_.on_trouble) dependencies_.on_trouble("counters_not_stored", stored.error());
}

void JobQueue::CalibrateAgain(const std::shared_ptr<Job>& job) {
  SetPhase(job, "calibrating counters");
  calibration_due_ = true;
  counters_fingerprint_.reset();
  const WorkerTask task{
      .request = CountersRequest(),
      .deadline = std::chrono::steady_clock::now() + options_.calibration_timeout};
  Result<worker::WorkerEvent> outcome =
      dependencies_.runner->Run(task, {}, job->cancel.get_token());
  KeepCounters(outcome);
  if (outcome.has_value() && !outcome->has_counters()) outcome = WrongOutcome("counters");
  if (outcome.has_value()) {
    if (dependencies_.on_calibrated) dependencies_.on_calibrated(outcome->counters());
  } else if (outcome.error().code != ErrorCode::kCancelled && dependencies_.on_trouble) {
    dependencies_.on_trouble("counters_not_probed", outcome.error());
  }
}

Result<std::optional<v1::CounterReport>> JobQueue::CountersFor(const std::shared_ptr<Job>& job,
                                                               const v1::Host& host) {
  const bool moved = counters_fingerprint_ && *counters_fingerprint_ != host.fingerprint();
  const bool counts = job->request.profile().counters() != v1::COUNTER_MODE_NONE;
  if (counts && (calibration_due_ || moved)) CalibrateAgain(job);
  if (calibration_due_ || counters_fingerprint_ != host.fingerprint()) return std::nullopt;
  if (unstored_counters_) return unstored_counters_;
  return dependencies_.store->counter_reports().Newest(host.fingerprint());
}

}  // namespace tinyprof
