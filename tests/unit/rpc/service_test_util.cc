#include "tests/unit/rpc/service_test_util.h"

#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>

#include "tests/unit/jobs/measured_roofline.h"

namespace tinyprof {

Result<worker::WorkerEvent> FakeRunner::Run(const WorkerTask& task, const ProgressFn& on_progress,
                                            std::stop_token cancel) {
  worker::WorkerEvent event;
  switch (task.request.task_case()) {
    case worker::WorkerRequest::kProfile:
      return Profile(on_progress, cancel);
    case worker::WorkerRequest::kRoofline:
      *event.mutable_roofline() = MeasuredRoofline(2e9);
      return event;
    case worker::WorkerRequest::kCounters: {
      auto* result = event.mutable_counters();
      result->mutable_counters()->set_backend("papi");
      result->mutable_counters()->set_usable(counters_usable);
      result->mutable_counters()->set_reason(counters_usable ? "" : "NO_PMU: there is no PMU");
      return event;
    }
    case worker::WorkerRequest::kDiagnosis:
      return Diagnose();
    case worker::WorkerRequest::kVerify:
      event.mutable_verified()->set_ok(task.request.verify().inputs(0) == "in" &&
                                       task.request.verify().outputs(0) == "out");
      return event;
    case worker::WorkerRequest::kQuantize: {
      // A file of more than one piece.
      const std::string file(3 << 19, 'q');
      EXPECT_EQ(::write(task.output_fd, file.data(), file.size()),
                static_cast<ssize_t>(file.size()));
      event.mutable_quantized()->set_sample_count(task.request.quantize().samples());
      return event;
    }
    default:
      return Fail(ErrorCode::kInternal, "WORKER_PROTOCOL", "the request holds no task");
  }
}

Result<worker::WorkerEvent> FakeRunner::Diagnose() const {
  if (diagnosis_failure) return tl::unexpected(*diagnosis_failure);
  worker::WorkerEvent event;
  auto* result = event.mutable_diagnosis();
  for (const auto state :
       {v1::CHECK_STATE_SKIP, v1::CHECK_STATE_OK, v1::CHECK_STATE_FAIL, v1::CHECK_STATE_WARN}) {
    result->add_checks()->set_state(state);
  }
  result->set_unusable_reason(counters_usable ? "" : "NO_PMU: there is no PMU");
  return event;
}

Result<worker::WorkerEvent> FakeRunner::Profile(const ProgressFn& on_progress,
                                                const std::stop_token& cancel) {
  v1::Progress progress;
  progress.set_phase("timing");
  on_progress(progress);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, cancel, [this] { return !held_; });
  if (cancel.stop_requested()) return Fail(ErrorCode::kCancelled, "CANCELLED", "it was cancelled");
  worker::WorkerEvent event;
  event.mutable_report()->set_backend("eigen");
  return event;
}

void FakeRunner::Hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void FakeRunner::Release() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  changed_.notify_all();
}

Result<v1::ModelAnalysis> FakeModels::Analyze(const v1::ModelSpec& spec) {
  if (spec.text() == "throws") throw std::runtime_error("a defect");
  if (spec.text() != "known") {
    return Fail(ErrorCode::kNotFound, "UNKNOWN_MODEL", "there is no model of that name");
  }
  v1::ModelAnalysis analysis;
  analysis.set_name(spec.text());
  analysis.set_parameter_count(100);
  analysis.set_parameter_bytes(400);
  return analysis;
}

Result<std::optional<UniqueFd>> FakeModels::OpenFile(const v1::ModelSpec&) { return std::nullopt; }

ServiceTest::ServiceTest() {
  store_ = Store::Open(dir_.File("tinyprof.db")).value();
  queue_ = std::make_unique<JobQueue>(
      JobQueueOptions{
          .measurement_cpus = {0}, .max_waiting_jobs = 4, .memory_limit_bytes = 1 << 20},
      JobQueueDependencies{
          .store = store_.get(), .runner = &runner_, .models = &models_, .host = [] {
            return Host();
          }});
  counters_ = std::make_unique<CounterProbe>(
      [this](const CounterProbe::Abandoned& abandoned) { return queue_->ProbeCounters(abandoned); },
      logger_);
  profiler_service_ = std::make_unique<ProfilerService>(*queue_, models_, *counters_, border_);
  diagnosis_ =
      std::make_unique<HostDiagnosis>(runner_, *store_, std::vector<int>{0}, int64_t{1} << 30);
  host_service_ = std::make_unique<HostService>(
      *queue_, [] { return Host(); }, *counters_, *diagnosis_, border_);
  grpc::ServerBuilder builder;
  builder.RegisterService(profiler_service_.get());
  builder.RegisterService(host_service_.get());
  server_ = builder.BuildAndStart();
  const auto channel = server_->InProcessChannel({});
  profiler_ = v1::ProfilerService::NewStub(channel);
  host_ = v1::HostService::NewStub(channel);
}

ServiceTest::~ServiceTest() {
  runner_.Release();
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

v1::Host ServiceTest::Host() {
  v1::Host host;
  host.set_fingerprint("0123456789abcdef");
  host.set_cpu("Test CPU");
  return host;
}

v1::RunSpec ServiceTest::KnownSpec() {
  v1::RunSpec spec;
  spec.mutable_model()->set_text("known");
  return spec;
}

grpc::Status ServiceTest::Start(const v1::RunSpec& spec, const std::string& request_id,
                                v1::Run* run) {
  grpc::ClientContext context;
  v1::StartRunRequest request;
  *request.mutable_spec() = spec;
  request.set_request_id(request_id);
  v1::StartRunResponse response;
  const grpc::Status status = profiler_->StartRun(&context, request, &response);
  *run = response.run();
  return status;
}

std::string ServiceTest::StartRun(const std::string& request_id) {
  v1::Run run;
  const grpc::Status status = Start(KnownSpec(), request_id, &run);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return run.id();
}

}  // namespace tinyprof
