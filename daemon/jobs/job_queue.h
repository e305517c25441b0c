// The queue of everything that measures, and the single owner of the measurement CPUs.
//
// Runs and exclusive tasks (roofline, counters, verify, quantize) wait in one bounded FIFO; one
// executor thread takes them one by one through a TaskRunner. A run that waits or is measured lives
// in memory and in the store; one that has ended lives in the store alone, or, where the store does
// not take it, in memory until it does (unstored_runs.h). All calls are thread-safe; none but
// Watch, MeasureRoofline, ProbeCounters, Verify, Quantize and Drain waits for a measurement.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "daemon/counters/counter_errors.h"
#include "daemon/jobs/job.h"
#include "daemon/jobs/model_source.h"
#include "daemon/jobs/run_spec_check.h"
#include "daemon/jobs/unstored_runs.h"
#include "daemon/store/store.h"
#include "daemon/worker/task_runner.h"
#include "daemon/worker/unique_fd.h"
#include "kernels/base/error.h"
#include "tinyprof/v1/host.pb.h"
#include "tinyprof/v1/run.pb.h"
#include "tinyprof/v1/service.pb.h"
#include "worker.pb.h"

namespace tinyprof {

struct JobQueueOptions {
  std::vector<int> measurement_cpus;  // at least one; thread i of a run is pinned to the i-th
  size_t max_waiting_jobs = 64;       // beside the one that is measured
  int64_t memory_limit_bytes = INT64_MAX;
  std::chrono::nanoseconds max_run_timeout = std::chrono::minutes(10);
  std::chrono::nanoseconds exclusive_task_timeout = std::chrono::minutes(5);
  // Of a counters task, which takes under a second and at most two of counting: a kernel or a
  // library that hangs must not hold up the runs behind it.
  std::chrono::nanoseconds calibration_timeout = std::chrono::seconds(20);
  // Of quantized models until they are sent.
  std::string scratch_directory = "/tmp";
};

// Everything outlives the queue.
struct JobQueueDependencies {
  Store* store = nullptr;
  TaskRunner* runner = nullptr;  // the queue calls it from its executor alone
  ModelSource* models = nullptr;
  std::function<v1::Host()> host;  // the machine as it is now; thread-safe
  // Called when a run was queued, has begun and has ended (without its report), for logs and
  // metrics; may be empty. The queue is locked meanwhile: it must be quick and not call the queue.
  std::function<void(const v1::Run&)> on_run_changed;
  // Told of counters that were calibrated anew for a run, not asked for by ProbeCounters; may be
  // empty.
  std::function<void(const worker::CountersResult&)> on_calibrated;
  // Told of what went wrong and fails nothing; may be empty.
  std::function<void(std::string_view event, const Error&)> on_trouble;
};

// A run as it stood at some moment.
struct RunSnapshot {
  v1::Run run;           // with its report once it has SUCCEEDED
  uint64_t version = 0;  // grows with every change
  bool ended = false;    // it will not change any more
};

struct CancelOutcome {
  v1::Run run;
  bool already_ended = false;  // before it could be cancelled
};

// A quantized model: what was done, and its ONNX file, open for reading.
struct QuantizedFile {
  v1::QuantizationReport report;
  UniqueFd file;
};

// Told how far a task is, at first and whenever that has changed.
using QuantizationProgressFn = std::function<void(const v1::QuantizationProgress&)>;

// Asked about ten times a second while a call waits; true makes it give up.
using AbandonedFn = std::function<bool()>;

class JobQueue {
 public:
  JobQueue(JobQueueOptions options, JobQueueDependencies dependencies);
  // Cancels what is left and waits for the executor.
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // Queues a run. Errors of CheckRunSpec, Analyze and CheckModelSize; INVALID_ARGUMENT /
  // "BAD_REQUEST_ID"; ALREADY_EXISTS / "REQUEST_ID_CONFLICT"; RESOURCE_EXHAUSTED / "QUEUE_FULL";
  // UNAVAILABLE / "DRAINING".
  Result<v1::Run> Start(const v1::RunSpec& spec, std::string_view request_id);
  // NOT_FOUND / "RUN_NOT_FOUND".
  Result<v1::Run> Get(std::string_view id);
  // Newest first, without reports; `page_size` 0 means 50. INVALID_ARGUMENT / "BAD_PAGE_SIZE" or
  // "BAD_PAGE_TOKEN".
  Result<RunPage> List(int32_t page_size, std::string_view page_token);
  // Cancels a run that has not ended and returns at once; one that has is returned as it is. A run
  // that is being measured becomes CANCELLED a moment later. NOT_FOUND / "RUN_NOT_FOUND".
  Result<CancelOutcome> Cancel(std::string_view id);
  // NOT_FOUND / "RUN_NOT_FOUND", FAILED_PRECONDITION / "RUN_NOT_ENDED"; the store's error for a run
  // whose end it still does not take.
  Status Delete(std::string_view id);

  // Waits until the run's version is above `last_version` (0: gives it at once), has ended, or
  // `deadline` has passed, and returns it as it then is. NOT_FOUND / "RUN_NOT_FOUND".
  Result<RunSnapshot> Watch(std::string_view id, uint64_t last_version,
                            std::chrono::steady_clock::time_point deadline);

  // Exclusive tasks: queued, then measured; they return when done. CANCELLED / "CANCELLED" when
  // `abandoned` says so, else the errors of TaskRunner and those of Start. Counters that end or
  // stop the worker are a result, which says so, and runs then count nothing (counters_failure.h).
  Result<v1::Roofline> MeasureRoofline(const AbandonedFn& abandoned = {});
  Result<worker::CountersResult> ProbeCounters(const AbandonedFn& abandoned = {});
  Result<v1::VerifyModelResponse> Verify(const worker::VerifyTask& task,
                                         const AbandonedFn& abandoned = {});
  // INVALID_ARGUMENT / "BAD_SAMPLES", the errors of OpenScratchFile and of the task.
  Result<QuantizedFile> Quantize(const v1::QuantizeModelRequest& request,
                                 const AbandonedFn& abandoned = {},
                                 const QuantizationProgressFn& on_progress = {});
  // The stored roofline of this machine as it is now, measured with the CPUs and the memory that
  // this queue measures with. FAILED_PRECONDITION / "NO_ROOFLINE" when there is none.
  Result<v1::Roofline> StoredRoofline();

  // Refuses new jobs, cancels what waits, and gives the one that is measured until `timeout` to end
  // before it is cancelled too; a counters task, which nobody loses, gets none. Returns when the
  // executor is idle and the store was asked once more to take what it had refused. May be called
  // more than once.
  void Drain(std::chrono::nanoseconds timeout);

  // Jobs that wait or are measured.
  size_t depth() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // These are called with mutex_ held.
  Status CheckRoom() const;
  void Enqueue(const std::shared_ptr<Job>& job);
  bool RemoveWaiting(const std::shared_ptr<Job>& job);
  void Renumber();
  // What the executor is busy with: Run.waits_for of those that wait.
  std::string WaitsFor() const;
  void Touch(Job& job);
  v1::QuantizationProgress ProgressOf(const std::shared_ptr<Job>& job) const;
  void CancelWaiting(const std::shared_ptr<Job>& job, const Error& why);
  void EndRun(const std::shared_ptr<Job>& job, Result<v1::RunReport> report);
  void StoreUnstored();
  void TellUnstored(const Job& job) const;
  Result<std::optional<v1::Run>> FindRepeated(const v1::RunSpec& spec, std::string_view request_id);

  Result<worker::WorkerEvent> RunExclusive(std::shared_ptr<Job> job, const AbandonedFn& abandoned,
                                           const QuantizationProgressFn& on_progress = {});

  // The executor's side, in job_executor.cc. Called without mutex_.
  void ExecutorLoop(const std::stop_token& stop);
  void ExecuteExclusive(const std::shared_ptr<Job>& job);
  void ExecuteRun(const std::shared_ptr<Job>& job);
  Result<v1::RunReport> Measure(const std::shared_ptr<Job>& job);
  // Completes the outcome of a counters task and keeps it for the runs to come.
  void KeepCounters(Result<worker::WorkerEvent>& outcome);
  void StoreCounters(const v1::CounterReport& counters);
  // For `job` and the runs after it. Where that fails, it stays due, and `job` has to calibrate for
  // itself.
  void CalibrateAgain(const std::shared_ptr<Job>& job);
  // What this queue has stored of `host`, nothing of an earlier one: what can be counted may have
  // changed between two daemons. Calibrates for a job that counts, where that is due or `host` is
  // not the one that was calibrated.
  Result<std::optional<v1::CounterReport>> CountersFor(const std::shared_ptr<Job>& job,
                                                       const v1::Host& host);
  Result<v1::Roofline> RooflineFor(const std::shared_ptr<Job>& job, const v1::Host& host);
  Result<v1::Roofline> MeasureRooflineNow(const v1::Host& host, std::stop_token cancel);
  void SetPhase(const std::shared_ptr<Job>& job, std::string phase);
  void SetProgress(const std::shared_ptr<Job>& job, const v1::Progress& progress);
  worker::WorkerRequest RooflineRequest() const;
  worker::WorkerRequest CountersRequest() const;
  v1::RooflineSetup RooflineSetupNow() const;

  const JobQueueOptions options_;
  const JobQueueDependencies dependencies_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  // a job, the queue or draining_ changed
  std::deque<std::shared_ptr<Job>> waiting_;
  std::shared_ptr<Job> current_;
  // Runs that have not ended, by id, and those whose end could not be stored.
  std::map<std::string, std::shared_ptr<Job>, std::less<>> runs_;
  UnstoredRuns unstored_;
  bool draining_ = false;

  // Of the host whose counters were stored last. The executor's alone, so no lock guards it.
  std::optional<std::string> counters_fingerprint_;
  // Of that host, where the store did not take it.
  std::optional<v1::CounterReport> unstored_counters_;
  // A run found counts that cannot be right, so what was found no longer holds.
  bool calibration_due_ = false;
  // Why runs may not open events, since the last counters task ended by it.
  std::optional<Refusal> events_off_;
  std::jthread executor_;
};

}  // namespace tinyprof
