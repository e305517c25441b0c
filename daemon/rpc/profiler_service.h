// ProfilerService: analyses models and runs them. See service.proto for what each call gives.
#pragma once

#include <mutex>

#include "daemon/jobs/job_queue.h"
#include "daemon/jobs/model_source.h"
#include "daemon/rpc/border.h"
#include "daemon/rpc/counter_probe.h"
#include "tinyprof/v1/service.grpc.pb.h"

namespace tinyprof {

// Thread-safe, as gRPC calls it from many threads. What it was given must outlive it.
class ProfilerService final : public v1::ProfilerService::Service {
 public:
  ProfilerService(JobQueue& queue, ModelSource& models, CounterProbe& counters, Border& border)
      : queue_(queue), models_(models), counters_(counters), border_(border) {}

  grpc::Status AnalyzeModel(grpc::ServerContext* context, const v1::AnalyzeModelRequest* request,
                            v1::AnalyzeModelResponse* response) override;
  grpc::Status StartRun(grpc::ServerContext* context, const v1::StartRunRequest* request,
                        v1::StartRunResponse* response) override;
  grpc::Status WatchRun(grpc::ServerContext* context, const v1::WatchRunRequest* request,
                        grpc::ServerWriter<v1::WatchRunResponse>* writer) override;
  grpc::Status GetRun(grpc::ServerContext* context, const v1::GetRunRequest* request,
                      v1::GetRunResponse* response) override;
  grpc::Status ListRuns(grpc::ServerContext* context, const v1::ListRunsRequest* request,
                        v1::ListRunsResponse* response) override;
  grpc::Status CancelRun(grpc::ServerContext* context, const v1::CancelRunRequest* request,
                         v1::CancelRunResponse* response) override;
  grpc::Status DeleteRun(grpc::ServerContext* context, const v1::DeleteRunRequest* request,
                         v1::DeleteRunResponse* response) override;
  grpc::Status VerifyModel(grpc::ServerContext* context,
                           grpc::ServerReader<v1::VerifyModelRequest>* reader,
                           v1::VerifyModelResponse* response) override;
  grpc::Status QuantizeModel(grpc::ServerContext* context, const v1::QuantizeModelRequest* request,
                             grpc::ServerWriter<v1::QuantizeModelResponse>* writer) override;

 private:
  Result<v1::ModelAnalysis> Analyze(const v1::ModelSpec& spec);

  JobQueue& queue_;
  ModelSource& models_;
  CounterProbe& counters_;
  Border& border_;
  std::mutex analysis_mutex_;  // one analysis at a time: measuring goes on beside it
};

}  // namespace tinyprof
