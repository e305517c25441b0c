// The services over an in-process channel, with a queue whose worker is scripted.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/server.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "daemon/jobs/job_queue.h"
#include "daemon/ops/log.h"
#include "daemon/rpc/border.h"
#include "daemon/rpc/counter_probe.h"
#include "daemon/rpc/host_service.h"
#include "daemon/rpc/profiler_service.h"
#include "daemon/store/store.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/unit/ops/temp_dir.h"
#include "tinyprof/v1/service.grpc.pb.h"

namespace tinyprof {

// Answers each task at once, but holds profile runs until Release().
class FakeRunner final : public TaskRunner {
 public:
  Result<worker::WorkerEvent> Run(const WorkerTask& task, const ProgressFn& on_progress,
                                  std::stop_token cancel) override;
  void Hold();
  void Release();
  // What ListCounters is told.
  bool counters_usable = false;
  // How the worker of a diagnosis ends; absent: well.
  std::optional<Error> diagnosis_failure;

 private:
  Result<worker::WorkerEvent> Diagnose() const;
  Result<worker::WorkerEvent> Profile(const ProgressFn& on_progress, const std::stop_token& cancel);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool held_ = false;
};

// Knows one model, "known", of 100 parameters, and refuses all others.
class FakeModels final : public ModelSource {
 public:
  Result<v1::ModelAnalysis> Analyze(const v1::ModelSpec& spec) override;
  Result<std::optional<UniqueFd>> OpenFile(const v1::ModelSpec& spec) override;
};

inline std::string ReasonOf(const grpc::Status& status) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  if (!details.ParseFromString(status.error_details()) || details.details_size() != 1 ||
      !details.details(0).UnpackTo(&info)) {
    return "no ErrorInfo";
  }
  return info.reason();
}

class ServiceTest : public testing::Test {
 protected:
  ServiceTest();
  ~ServiceTest() override;

  std::string StartRun(const std::string& request_id = "");
  grpc::Status Start(const v1::RunSpec& spec, const std::string& request_id, v1::Run* run);
  static v1::RunSpec KnownSpec();
  static v1::Host Host();

  TempDir dir_;
  Logger logger_{STDERR_FILENO, LogFormat::kText, LogLevel::kError};
  Border border_{logger_};
  FakeRunner runner_;
  FakeModels models_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<JobQueue> queue_;
  std::unique_ptr<CounterProbe> counters_;
  std::unique_ptr<HostDiagnosis> diagnosis_;
  std::unique_ptr<ProfilerService> profiler_service_;
  std::unique_ptr<HostService> host_service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::ProfilerService::Stub> profiler_;
  std::unique_ptr<v1::HostService::Stub> host_;
};

}  // namespace tinyprof
