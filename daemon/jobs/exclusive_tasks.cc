// The tasks of JobQueue that a caller waits for: roofline, counters, verify, quantize.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/jobs/job_queue.h"
#include "daemon/jobs/outcome.h"
#include "daemon/jobs/roofline_setup.h"
#include "daemon/jobs/scratch_file.h"
#include "kernels/runtime/isa.h"

namespace tinyprof {
namespace {

constexpr std::chrono::milliseconds kAbandonedPollInterval{100};

// Until the worker says more.
constexpr const char* kFirstPhase = "starting";

constexpr int32_t kDefaultSamples = 16;
constexpr int32_t kMaxSamples = 1000;

Error Abandoned() { return {ErrorCode::kCancelled, "CANCELLED", "the caller has gone away"}; }

Status CheckTolerance(const v1::VerifySpec& spec) {
  if (spec.rtol() >= 0 && spec.atol() >= 0) return {};
  return Fail(ErrorCode::kInvalidArgument, "BAD_TOLERANCE",
              fmt::format("rtol is {} and atol is {}, and neither may be negative", spec.rtol(),
                          spec.atol()));
}

Result<int32_t> SampleCount(int32_t asked) {
  if (asked >= 0 && asked <= kMaxSamples) return asked == 0 ? kDefaultSamples : asked;
  return Fail(ErrorCode::kInvalidArgument, "BAD_SAMPLES",
              fmt::format("got {} samples, wanted 1 to {}", asked, kMaxSamples),
              {{"samples", std::to_string(asked)}});
}

// Whether the tensors that come with the model may tell what its file does not. The worker, which
// has them, then holds it against the limit of memory.
bool MayDependOnData(const Error& error) {
  return error.reason == "SHAPE_NOT_KNOWN" || error.reason == "CONTROL_FLOW";
}

}  // namespace

Result<worker::WorkerEvent> JobQueue::RunExclusive(std::shared_ptr<Job> job,
                                                   const AbandonedFn& abandoned,
                                                   const QuantizationProgressFn& on_progress) {
  Lock lock(mutex_);
  TINYPROF_RETURN_IF_ERROR(CheckRoom());
  Enqueue(job);
  std::string told;
  const auto ended = [&] { return job->outcome.has_value(); };
  while (!changed_.wait_for(lock, kAbandonedPollInterval, ended)) {
    const v1::QuantizationProgress progress = ProgressOf(job);
    // All of them run code of others, which may take its time.
    lock.unlock();
    if (std::string now = progress.SerializeAsString(); on_progress && now != told) {
      told = std::move(now);
      on_progress(progress);
    }
    const bool give_up = abandoned && abandoned();
    if (give_up) job->cancel.request_stop();
    lock.lock();
    if (give_up && RemoveWaiting(job)) CancelWaiting(job, Abandoned());
  }
  return *std::move(job->outcome);
}

v1::QuantizationProgress JobQueue::ProgressOf(const std::shared_ptr<Job>& job) const {
  v1::QuantizationProgress progress;
  const auto place = std::find(waiting_.begin(), waiting_.end(), job);
  if (place != waiting_.end()) {
    progress.set_queue_position(static_cast<int32_t>(place - waiting_.begin()) + 1);
    progress.set_waits_for(WaitsFor());
    return progress;
  }
  const v1::Progress& now = job->run.progress();
  progress.set_phase(now.phase().empty() ? kFirstPhase : now.phase());
  progress.set_done(now.done());
  progress.set_total(now.total());
  return progress;
}

worker::WorkerRequest JobQueue::RooflineRequest() const {
  const auto& cpus = options_.measurement_cpus;
  worker::WorkerRequest request;
  request.mutable_cpus()->Assign(cpus.begin(), cpus.end());
  request.set_memory_limit_bytes(options_.memory_limit_bytes);
  request.mutable_roofline()->set_max_threads(static_cast<int32_t>(cpus.size()));
  return request;
}

v1::RooflineSetup JobQueue::RooflineSetupNow() const {
  return MakeRooflineSetup(options_.measurement_cpus, options_.memory_limit_bytes);
}

Result<v1::Roofline> JobQueue::MeasureRoofline(const AbandonedFn& abandoned) {
  auto job = std::make_shared<Job>();
  job->request = RooflineRequest();
  TINYPROF_ASSIGN_OR_RETURN(worker::WorkerEvent event, RunExclusive(std::move(job), abandoned));
  if (!event.has_roofline()) return WrongOutcome("roofline");
  return std::move(*event.mutable_roofline());
}

Result<worker::CountersResult> JobQueue::ProbeCounters(const AbandonedFn& abandoned) {
  auto job = std::make_shared<Job>();
  job->request = CountersRequest();
  TINYPROF_ASSIGN_OR_RETURN(worker::WorkerEvent event, RunExclusive(std::move(job), abandoned));
  if (!event.has_counters()) return WrongOutcome("counters");
  return std::move(*event.mutable_counters());
}

Result<v1::VerifyModelResponse> JobQueue::Verify(const worker::VerifyTask& task,
                                                 const AbandonedFn& abandoned) {
  TINYPROF_RETURN_IF_ERROR(CheckTolerance(task.spec()));
  const auto& cpus = options_.measurement_cpus;
  TINYPROF_ASSIGN_OR_RETURN(const v1::VerifySpec spec,
                            CheckVerifySpec(task.spec(), static_cast<int>(cpus.size())));
  const v1::ModelSpec& model = spec.model();
  const Result<v1::ModelAnalysis> analysis = dependencies_.models->Analyze(model);
  if (analysis.has_value()) {
    TINYPROF_RETURN_IF_ERROR(CheckModelSize(*analysis, options_.memory_limit_bytes));
  } else if (!MayDependOnData(analysis.error())) {
    return tl::unexpected<Error>(analysis.error());
  }
  TINYPROF_ASSIGN_OR_RETURN(std::optional<UniqueFd> model_file,
                            dependencies_.models->OpenFile(model));
  auto job = std::make_shared<Job>();
  job->request.mutable_cpus()->Assign(cpus.begin(), cpus.begin() + spec.threads());
  job->request.set_memory_limit_bytes(options_.memory_limit_bytes);
  job->request.set_has_model_file(model_file.has_value());
  *job->request.mutable_verify() = task;
  *job->request.mutable_verify()->mutable_spec() = spec;
  if (model_file) job->model_file = *std::move(model_file);
  TINYPROF_ASSIGN_OR_RETURN(worker::WorkerEvent event, RunExclusive(std::move(job), abandoned));
  if (!event.has_verified()) return WrongOutcome("comparison");
  return std::move(*event.mutable_verified());
}

Result<QuantizedFile> JobQueue::Quantize(const v1::QuantizeModelRequest& request,
                                         const AbandonedFn& abandoned,
                                         const QuantizationProgressFn& on_progress) {
  TINYPROF_ASSIGN_OR_RETURN(const int32_t samples, SampleCount(request.samples()));
  TINYPROF_ASSIGN_OR_RETURN(const v1::ModelSpec model, CheckModelSpec(request.model()));
  TINYPROF_ASSIGN_OR_RETURN(const v1::ModelAnalysis analysis, dependencies_.models->Analyze(model));
  TINYPROF_RETURN_IF_ERROR(CheckModelSize(analysis, options_.memory_limit_bytes));
  TINYPROF_ASSIGN_OR_RETURN(std::optional<UniqueFd> model_file,
                            dependencies_.models->OpenFile(model));
  TINYPROF_ASSIGN_OR_RETURN(UniqueFd file, OpenScratchFile(options_.scratch_directory));
  auto job = std::make_shared<Job>();
  const auto& cpus = options_.measurement_cpus;
  job->request.mutable_cpus()->Assign(cpus.begin(), cpus.end());
  job->request.set_memory_limit_bytes(options_.memory_limit_bytes);
  job->request.set_has_model_file(model_file.has_value());
  v1::QuantizeModelRequest& task = *job->request.mutable_quantize();
  task = request;
  *task.mutable_model() = model;
  task.set_samples(samples);
  if (model_file) job->model_file = *std::move(model_file);
  job->output_file = std::move(file);
  TINYPROF_ASSIGN_OR_RETURN(worker::WorkerEvent event, RunExclusive(job, abandoned, on_progress));
  if (!event.has_quantized()) return WrongOutcome("quantized model");
  return QuantizedFile{std::move(*event.mutable_quantized()), std::move(job->output_file)};
}

Result<v1::Roofline> JobQueue::StoredRoofline() {
  const v1::Host host = dependencies_.host();
  TINYPROF_ASSIGN_OR_RETURN(std::optional<v1::Roofline> stored,
                            dependencies_.store->rooflines().Newest(host.fingerprint()));
  if (!stored) {
    return Fail(ErrorCode::kFailedPrecondition, "NO_ROOFLINE",
                "no roofline of this machine as it is now is stored: measure one with "
                "`tinyprof-client roofline --measure`");
  }
  const std::string why_not = WhyNotForSetup(*stored, RooflineSetupNow());
  if (why_not.empty()) return *std::move(stored);
  return Fail(ErrorCode::kFailedPrecondition, "NO_ROOFLINE",
              fmt::format("the stored roofline {}: measure one anew with `tinyprof-client roofline "
                          "--measure`",
                          why_not),
              {{"why", why_not}});
}

}  // namespace tinyprof
