// A server that speaks the contract with canned answers, on a Unix socket of its own.
#pragma once

#include <grpcpp/server.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tinyprof/v1/service.grpc.pb.h"

namespace tinyprof::client {

// A status that carries a google.rpc.ErrorInfo, as the daemon sends it.
grpc::Status Refusal(grpc::StatusCode code, const std::string& reason, const std::string& message);

class FakeProfiler : public v1::ProfilerService::Service {
 public:
  // What WatchRun sends, in order; then it waits for Cancel or Release while `hold` is set.
  std::vector<v1::Run> states;
  bool hold = false;
  grpc::Status start_status;
  grpc::Status analyze_status;
  std::atomic<int> unavailable_calls = 0;  // so many calls of AnalyzeModel fail first
  std::atomic<int> cancel_calls = 0;
  std::atomic<int> watch_calls = 0;
  std::map<std::string, v1::Run> runs;  // what GetRun knows beside r-1
  v1::StartRunRequest start_request;
  v1::CancelRunResponse cancel_response = RunningStill();
  std::vector<v1::VerifyModelRequest> verify_requests;
  v1::QuantizeModelRequest quantize_request;
  v1::QuantizationReport quantization_report;
  grpc::Status quantize_status;
  std::vector<v1::QuantizationProgress> quantize_progress;

  grpc::Status AnalyzeModel(grpc::ServerContext*, const v1::AnalyzeModelRequest*,
                            v1::AnalyzeModelResponse* response) override;
  grpc::Status StartRun(grpc::ServerContext*, const v1::StartRunRequest* request,
                        v1::StartRunResponse* response) override;
  grpc::Status WatchRun(grpc::ServerContext* context, const v1::WatchRunRequest*,
                        grpc::ServerWriter<v1::WatchRunResponse>* writer) override;
  grpc::Status GetRun(grpc::ServerContext*, const v1::GetRunRequest* request,
                      v1::GetRunResponse* response) override;
  grpc::Status CancelRun(grpc::ServerContext*, const v1::CancelRunRequest*,
                         v1::CancelRunResponse* response) override;
  grpc::Status VerifyModel(grpc::ServerContext*, grpc::ServerReader<v1::VerifyModelRequest>* reader,
                           v1::VerifyModelResponse* response) override;
  grpc::Status QuantizeModel(grpc::ServerContext*, const v1::QuantizeModelRequest* request,
                             grpc::ServerWriter<v1::QuantizeModelResponse>* writer) override;

 private:
  static v1::CancelRunResponse RunningStill();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
};

class FakeModels : public v1::ModelService::Service {
 public:
  std::string uploaded_name;
  std::string uploaded_bytes;
  std::string known_sha256;  // GetModel answers with it when it is set
  std::string deleted_name;
  grpc::Status delete_status;
  // ExportModel and UploadModel take so long as their caller waits.
  std::atomic<bool> hold = false;
  std::atomic<int> export_calls = 0;

  grpc::Status GetModel(grpc::ServerContext*, const v1::GetModelRequest* request,
                        v1::GetModelResponse* response) override;
  grpc::Status UploadModel(grpc::ServerContext*, grpc::ServerReader<v1::UploadModelRequest>* reader,
                           v1::UploadModelResponse* response) override;
  grpc::Status ListModels(grpc::ServerContext*, const v1::ListModelsRequest* request,
                          v1::ListModelsResponse* response) override;
  grpc::Status DeleteModel(grpc::ServerContext*, const v1::DeleteModelRequest* request,
                           v1::DeleteModelResponse*) override;
  grpc::Status ExportModel(grpc::ServerContext*, const v1::ExportModelRequest* request,
                           grpc::ServerWriter<v1::ExportModelResponse>* writer) override;
};

class FakeHosts : public v1::HostService::Service {
 public:
  grpc::Status GetHost(grpc::ServerContext*, const v1::GetHostRequest*,
                       v1::GetHostResponse* response) override;
};

class FakeDaemon {
 public:
  FakeDaemon();
  ~FakeDaemon();

  std::string address() const { return "unix:" + (directory_ / "d.sock").string(); }
  const std::filesystem::path& directory() const { return directory_; }
  // Ends all calls at once, as a crash does, and does not come back.
  void Kill();
  void SetServing(bool serving);

  FakeProfiler profiler;
  FakeModels models;
  FakeHosts hosts;

 private:
  std::filesystem::path directory_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tinyprof::client
